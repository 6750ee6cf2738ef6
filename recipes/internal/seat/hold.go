package seat

import (
	"cmp"
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/trace"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Hold is one holder's part of a seat. The acquire that got the lock has the first share.
// Each acquire under the context of one of its leases re-enters and adds a share. The
// release of the last share ends the hold.
type Hold struct {
	seat *Seat
	ctx  context.Context // the first lease's context, which is also the hold's until an acquire re-enters
	end  context.CancelCauseFunc

	policy Policy // what the end of the hold does with the seat

	handedOver, downgraded bool // how the hold was acquired, for tracers

	// The following fields are protected by seat.mu.
	shares  int32           // the hold ends at zero, and never starts again
	all     context.Context // the hold's context, parent of the later leases'; nil before the first re-entry
	endAll  context.CancelCauseFunc
	stopped func()      // set for a leader's hold only; see Lead
	trace   *trace.Hold // may be nil
}

// Seat returns the seat of the hold.
func (h *Hold) Seat() *Seat { return h.seat }

// Client returns the view of the client with which the lock was made.
func (h *Hold) Client() *framework.Client { return h.seat.client }

// Context returns a context that ends with the hold. A context from before the first
// re-entry may end sooner, with the first lease.
func (h *Hold) Context() context.Context {
	h.seat.mu.Lock()
	defer h.seat.mu.Unlock()
	return h.contextLocked()
}

func (h *Hold) contextLocked() context.Context { return cmp.Or(h.all, h.ctx) }

// End ends the contexts of all leases with a cause. The caller releases the hold next.
func (h *Hold) End(cause error) {
	h.seat.mu.Lock()
	defer h.seat.mu.Unlock()
	h.endLocked(cause)
}

func (h *Hold) endLocked(cause error) {
	h.end(cause)
	if h.endAll != nil {
		h.endAll(cause)
	}
}

// Loss returns why the hold's context has ended. It is for callers that learned of the
// end from the session, and waits until the end has reached the hold.
func (h *Hold) Loss() error {
	ctx := h.Context()
	<-ctx.Done()
	return context.Cause(ctx)
}

// isTrusted reports whether a goroutine may begin to work under the hold. If the seat was
// obtained without a request, no reply has just proved that the session is alive, so
// isTrusted checks the session's clock.
func (h *Hold) isTrusted() bool { return h.ctx.Err() == nil && h.seat.session().IsInTime() }

// FromContext returns the hold with this key if ctx is under one of its leases, or nil.
func FromContext(ctx context.Context, key any) *Hold {
	h, _ := ctx.Value(key).(*Hold)
	return h
}

// Reenter returns another lease of the hold if ctx is under one. It returns nil if there
// is no such hold, or the hold has ended. If the hold was lost, Reenter returns an error:
// the holder believes that it holds the lock, and must not silently queue again.
func Reenter(ctx context.Context, key any) (*Lease, error) {
	h := FromContext(ctx, key)
	if h == nil {
		return nil, nil
	}
	if joined, err := h.Join(); !joined {
		return nil, err
	}
	h.Trace().Reentered()
	return h.LeaseOf(ctx), nil
}

// Join adds a share, unless the hold has ended or was lost.
func (h *Hold) Join() (bool, error) {
	h.seat.mu.Lock()
	defer h.seat.mu.Unlock()
	switch {
	case h.shares <= 0:
		return false, nil
	case h.contextLocked().Err() != nil:
		return false, context.Cause(h.contextLocked())
	case h.all == nil:
		h.all, h.endAll = context.WithCancelCause(h.seat.trusted)
	}
	h.shares++
	return true, nil
}

// Leave removes a share that Join has added. It waits for a deletion, unless err, the
// error of the caller's last request, means that there is no connection.
func (h *Hold) Leave(ctx context.Context, err error) {
	h.seat.mu.Lock()
	h.shares--
	last := h.shares == 0
	if last {
		h.endLocked(ErrReleased)
	}
	h.seat.mu.Unlock()
	if last {
		h.releaseWhileConnected(UnlessDown(ctx, err), h.seat.connection())
	}
}

// dropShares removes all shares, and reports whether there were any.
func (h *Hold) dropShares() bool {
	h.seat.mu.Lock()
	defer h.seat.mu.Unlock()
	any := h.shares > 0
	h.shares = 0
	return any
}

// HasShares reports whether the hold has shares, even if it is lost. A nil hold has none.
func (h *Hold) HasShares() bool {
	if h == nil {
		return false
	}
	h.seat.mu.Lock()
	defer h.seat.mu.Unlock()
	return h.shares > 0
}

// Trace returns the trace of the hold, or nil.
func (h *Hold) Trace() *trace.Hold {
	h.seat.mu.Lock()
	defer h.seat.mu.Unlock()
	return h.trace
}

// startTrace starts the trace of the hold. The argument is the hold's first lease, which
// no other goroutine has seen yet.
func (h *Hold) startTrace(first *Lease, of locktrace.Acquire, acquired *trace.Acquire) {
	what := locktrace.Hold{Node: first.Path(), Token: h.seat.token}
	t, work := trace.StartHold(first.held(), of, what, acquired)
	if acquired != nil {
		first.workIn(work)
	}
	h.seat.mu.Lock()
	h.trace = t
	asked := h.seat.watched.asked.hasHappened()
	h.seat.mu.Unlock()
	if asked {
		t.Revoked()
	}
	if h.seat.State() == Lost {
		h.tellLoss()
	}
}

// tellLoss reports, once, to the tracer and the log that the hold was lost. It does
// nothing if the hold was released before.
func (h *Hold) tellLoss() {
	if cause := context.Cause(h.Context()); cause != nil && !reason.Is(cause, ErrReleased) {
		h.Trace().Lost(kindOf(cause), cause)
	}
}

// discard releases a hold that no caller gets. It does not wait.
func (h *Hold) discard() {
	if h.dropShares() {
		h.End(ErrReleased)
		_ = h.release(Ended)
	}
}

// LeaseOf returns the lease of a share: the first share, or the share that the caller has
// just added with Join. The lease has the values of ctx.
func (h *Hold) LeaseOf(ctx context.Context) *Lease {
	l := &Lease{hold: h, life: h.ctx, end: h.end}
	if h.all != nil {
		l.life, l.end = context.WithCancelCause(h.all)
	}
	l.workIn(leased{l.life, ctx, h})
	return l
}

// Beside returns a hold on a second seat of the holder's client, for a node that replaces
// the holder's: a writer that becomes a reader. The token is the holder's. Beside returns
// nil if the node can no longer be trusted.
func (h *Hold) Beside(of *Lock, node framework.Created, data []byte) *Hold {
	q := h.seat.lane
	s := &Seat{lane: q, shared: true, terms: of.terms(), data: data, token: h.seat.token}
	q.mu.Lock()
	q.live = append(q.live, s)
	q.mu.Unlock()
	beside := s.admit([]framework.Created{node}, nil)
	if beside == nil {
		s.become(Gone)
		s.vacate()
		return nil
	}
	beside.downgraded = true
	return beside
}

// releaseInBackground releases a hold that was lost. The client deletes the nodes in the
// background, unless another hold has them. The nodes may block other contenders as long
// as the server keeps the session, but the caller need not wait for their deletion. If
// only a tracer has ended the lease's context, the hold's context ends with the cause.
func (h *Hold) releaseInBackground(cause error) {
	h.End(cause)
	h.tellLoss()
	h.Trace().Released(cause) // no effect if the loss was reported
	h.seat.unseat(h)
	if h.seat.deleteInBackground() {
		h.seat.vacate()
	}
}
