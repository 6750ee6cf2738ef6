package seat

import (
	"context"
	"sync/atomic"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// Lease is one share of a hold, or several leases that were taken together.
// The type locks.Lease wraps it and documents the contracts of its methods.
type Lease struct {
	hold     *Hold           // nil for several leases
	several  *several        // nil for one lease
	ctx      leaseContext    // the lease's context, in which LeaseFromContext finds the lease
	life     context.Context // ends with the lease, even if a tracer has derived another context; has no values
	end      context.CancelCauseFunc
	released atomic.Bool
}

// Hold returns the hold of a single lease. For several leases that were taken
// together, it returns nil.
func (l *Lease) Hold() *Hold { return l.hold }

// valuesOf returns the values of ctx, without its end. An acquire finds the lease by
// these values.
func (l *Lease) valuesOf(ctx context.Context) context.Context {
	ctx = context.WithoutCancel(ctx)
	if l.hold == nil {
		return l.several.valuesOf(ctx)
	}
	return context.WithValue(ctx, l.hold.seat.key, l.hold)
}

// workIn sets the lease's context.
func (l *Lease) workIn(held context.Context) { l.ctx = leaseContext{held, l} }

// held returns the lease's context, without a reference to the lease.
func (l *Lease) held() context.Context { return l.ctx.Context }

// Context returns the context that ends with the lease.
func (l *Lease) Context() context.Context { return &l.ctx }

// WithContext returns a copy of ctx that also ends with the lease.
func (l *Lease) WithContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return endingWith(leaseContext{merged{l.held(), l.valuesOf(ctx)}, l}, ctx)
}

// Holds returns the holds in which the lease has shares.
func (l *Lease) Holds() []*Hold {
	if l.hold != nil {
		return []*Hold{l.hold}
	}
	return l.several.held
}

// FencingToken returns the token of the last hold.
func (l *Lease) FencingToken() int64 { return l.last().hold.seat.Token() }

// last returns the lease itself, or the last of the leases that were taken together.
func (l *Lease) last() *Lease {
	for l.hold == nil {
		l = l.several.leases[len(l.several.leases)-1]
	}
	return l
}

// Path returns the path of the first node.
func (l *Lease) Path() string { return l.Holds()[0].seat.nodes[0].Path }

// Leases returns the leases that were taken together, or the lease itself.
func (l *Lease) Leases() []*Lease {
	if l.hold != nil {
		return []*Lease{l}
	}
	return l.several.leases
}

// Requested is closed when another client asks for one of the locks.
func (l *Lease) Requested() <-chan struct{} {
	if l.hold != nil {
		return l.hold.seat.Requested()
	}
	return l.several.Requested()
}

// Release removes the lease's share. With the last share, it releases the hold.
func (l *Lease) Release(ctx context.Context) error {
	if l.hold == nil {
		return l.several.release(ctx)
	}
	return l.finish(ctx, l.part())
}

// parting is the first half of a release.
type parting struct {
	loss       error           // why the lease ended before the release; ErrReleased after an earlier release
	last       bool            // the share was the last one
	connection context.Context // nil unless the share was the last one
}

// part ends the lease without making a request. If the session ends afterwards, that is
// no loss.
func (l *Lease) part() parting {
	if !l.released.CompareAndSwap(false, true) {
		return parting{loss: ErrReleased}
	}
	p, stops := l.endShare()
	if stops {
		l.hold.Stopped()
	}
	if p.last {
		p.connection = l.hold.seat.connection()
	}
	return p
}

// endShare ends the lease's context and removes its share. It finds out whether that was
// the last share. It does both under one lock. Otherwise, a leader that sees the end could
// call [Hold.Dissolve] before the share is removed, and Dissolve would take over the
// deletion, for whose answer this release waits. The hold, too, ends at that moment: a later
// interruption is no loss, and a minimum hold continues. If a leader's hold was lost, or a
// tracer has ended the lease's context, the share remains: the release only reports that
// the holder has stopped, see [Hold.Lead].
func (l *Lease) endShare() (p parting, stops bool) {
	h := l.hold
	h.seat.mu.Lock()
	defer h.seat.mu.Unlock()
	l.end(ErrReleased)
	if cause := context.Cause(l.Context()); !reason.Is(cause, ErrReleased) { // the first cause
		p.loss = cause
	}
	if h.stopped != nil && p.loss != nil {
		return p, true
	}
	h.shares--
	p.last = h.shares == 0
	if p.last && p.loss == nil {
		h.endLocked(ErrReleased)
	}
	return p, false
}

// finish does the second half of a release.
func (l *Lease) finish(ctx context.Context, p parting) error {
	err := p.loss
	switch {
	case p.last && p.loss != nil:
		l.hold.releaseInBackground(p.loss)
	case p.last:
		err = l.hold.releaseWhileConnected(ctx, p.connection)
	}
	if err != nil {
		return &framework.OpError{Op: "release", Path: l.Path(), Err: err}
	}
	return nil
}
