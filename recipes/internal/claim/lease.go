package claim

import (
	"context"
	"sync/atomic"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
)

// Lease is one share of a claim, or several leases that were taken together.
// The type locks.Lease wraps it and documents the contracts of its methods.
type Lease struct {
	claim    *Claim          // nil for several leases
	several  *several        // nil for one lease
	ctx      leaseContext    // the lease's, in which LeaseFromContext finds it
	life     context.Context // ends with the lease, whatever a tracer has derived; it has no values
	end      context.CancelCauseFunc
	released atomic.Bool
}

// LeaseOf returns the lease of a share. The lease has the values of ctx.
func (c *Claim) LeaseOf(ctx context.Context) *Lease {
	l := &Lease{claim: c}
	l.life, l.end = context.WithCancelCause(c.ctx)
	l.workIn(merged{l.life, l.valuesOf(ctx)})
	return l
}

// Claim returns the claim of a single lease. For several leases that were taken
// together, it returns nil.
func (l *Lease) Claim() *Claim { return l.claim }

// valuesOf returns the values of ctx, without its end. By these values, an
// acquire finds that it is under this lease.
func (l *Lease) valuesOf(ctx context.Context) context.Context {
	ctx = context.WithoutCancel(ctx)
	if l.claim == nil {
		return l.several.valuesOf(ctx)
	}
	return context.WithValue(ctx, l.claim.terms.Key, l.claim)
}

// workIn sets the lease's context.
func (l *Lease) workIn(held context.Context) { l.ctx = leaseContext{held, l} }

// held is the lease's context, without a reference to the lease.
func (l *Lease) held() context.Context { return l.ctx.Context }

// Context ends when the lease does.
func (l *Lease) Context() context.Context { return &l.ctx }

// Ended returns why a single lease has ended, or nil if it has not. The cause of
// its context may be another one: a tracer can end that, and the lease goes on.
func (l *Lease) Ended() error { return context.Cause(l.life) }

// WithContext returns a copy of ctx that ends with the lease, too.
func (l *Lease) WithContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return endingWith(leaseContext{merged{l.held(), l.valuesOf(ctx)}, l}, ctx)
}

// Claims returns the claims that the lease has shares of.
func (l *Lease) Claims() []*Claim {
	if l.claim != nil {
		return []*Claim{l.claim}
	}
	return l.several.claims()
}

// Path returns the path of the first node.
func (l *Lease) Path() string { return l.Claims()[0].nodes[0].Path }

// Leases returns the leases that were taken together, or the lease itself.
func (l *Lease) Leases() []*Lease {
	if l.claim != nil {
		return []*Lease{l}
	}
	return l.several.leases
}

// Requested is closed when somebody asks for one of the locks.
func (l *Lease) Requested() <-chan struct{} {
	if l.claim != nil {
		return l.claim.Requested()
	}
	return l.several.Requested()
}

// Release gives the share up, and with the last share the claim.
func (l *Lease) Release(ctx context.Context) error {
	if l.claim == nil {
		return l.several.release(ctx)
	}
	return l.finish(ctx, l.part())
}

// parting is the first half of a release.
type parting struct {
	again      bool            // the lease was released before
	last       bool            // it was the last share
	cause      error           // with which the lease's context has ended
	connection context.Context // nil if it was not the last share
}

// part ends the lease, and makes no request. What happens to the session after
// that is no loss.
func (l *Lease) part() parting {
	if !l.released.CompareAndSwap(false, true) {
		return parting{again: true}
	}
	last := l.leave()
	p := parting{last: last, cause: context.Cause(l.Context())} // the first one
	if last {
		p.connection = l.claim.connection()
	}
	return p
}

// finish does what is left of the release.
func (l *Lease) finish(ctx context.Context, p parting) error {
	if err := l.giveBack(ctx, p); err != nil {
		return &framework.OpError{Op: "release", Path: l.Path(), Err: err}
	}
	return nil
}

func (l *Lease) giveBack(ctx context.Context, p parting) error {
	switch lost := !reason.Is(p.cause, ErrReleased); {
	case p.again:
		return ErrReleased
	case lost && p.last:
		l.claim.abandon(p.cause)
		// What the tracer records is not lost if the program ends.
		l.claim.Trace().Wait(insider.Of(l.claim.terms.Client).WhileConnected(ctx, p.connection))
		return p.cause
	case lost:
		return p.cause
	case p.last:
		return l.claim.giveUpSoon(ctx, p.connection)
	default:
		return nil
	}
}

// leave ends the lease's context and removes its share. It reports whether that
// was the last one. It does both at once: a leader that sees the end calls
// [Claim.Dissolve], which must not find the share and take over the deletion.
// The server's answer is this release's. For the same reason the claim becomes
// Releasing at that moment: an interruption that comes next is no loss, and a
// minimum hold goes on. The share of a leader's claim stays if the claim was lost, or
// a tracer has ended the lease's context: see [Claim.Lead].
func (l *Lease) leave() (last bool) {
	l.claim.mu.Lock()
	defer l.claim.mu.Unlock()
	l.end(ErrReleased)
	if stopped := l.claim.stopped; stopped != nil && !reason.Is(context.Cause(l.Context()), ErrReleased) {
		stopped()
		l.claim.holderStoppedLocked()
		return false
	}
	last = l.claim.leaveLocked()
	if last && reason.Is(l.Ended(), ErrReleased) {
		l.claim.becomeLocked(Releasing)
	}
	return last
}
