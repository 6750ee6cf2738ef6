package seat

import (
	"cmp"
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/trace"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Hold is one holder's part of a seat. The acquire that has won it has the first
// share. Each acquire under the context of one of its leases re-enters, and has
// another. The release of the last share ends the hold.
type Hold struct {
	seat *Seat
	ctx  context.Context // the first lease's, which is the hold's until an acquire re-enters
	end  context.CancelCauseFunc

	policy Policy // what becomes of the seat when the hold ends

	handedOver, downgraded bool // how it came, for tracers

	// These are protected by seat.mu.
	shares  int32           // the hold is over at zero, and never begins again
	all     context.Context // the hold's context, from which those of the other leases derive; nil if none has re-entered
	endAll  context.CancelCauseFunc
	stopped func()      // only a leader's hold has it; see Lead
	trace   *trace.Hold // may be nil
}

// Seat returns the seat that the hold is a part of.
func (h *Hold) Seat() *Seat { return h.seat }

// Client returns the view of the client that the lock was made with.
func (h *Hold) Client() *framework.Client { return h.seat.client }

// Context ends when the hold does. A context from before the first re-entry may end
// sooner, with the first lease.
func (h *Hold) Context() context.Context {
	h.seat.mu.Lock()
	defer h.seat.mu.Unlock()
	return h.contextLocked()
}

func (h *Hold) contextLocked() context.Context { return cmp.Or(h.all, h.ctx) }

// End ends the contexts of all leases with a cause. The hold is given up next.
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

// Loss returns why the hold's context has ended. It is for callers that
// learned of the end from the session. It waits for the end to reach the hold.
func (h *Hold) Loss() error {
	ctx := h.Context()
	<-ctx.Done()
	return context.Cause(ctx)
}

// isTrusted reports whether a goroutine may begin to work under the hold. If the seat
// has come without a request, no request has just proved that the session lives, so
// that its clock is asked.
func (h *Hold) isTrusted() bool { return h.ctx.Err() == nil && h.seat.session().IsInTime() }

// FromContext returns the hold with this key that ctx was made under, by a
// lease's context, or nil.
func FromContext(ctx context.Context, key any) *Hold {
	h, _ := ctx.Value(key).(*Hold)
	return h
}

// Reenter returns another lease of the hold that ctx is under. It returns nil
// if there is none, or it is over. The loss of a hold is an error: its
// holder believes that it holds the lock, and must not silently go to the end
// of the queue.
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

// Join adds a share, unless the hold is over, or lost.
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

// Leave removes a share that Join has added. Leave waits for a deletion, unless err
// says that there is no connection. The caller got err from the server.
func (h *Hold) Leave(ctx context.Context, err error) {
	h.seat.mu.Lock()
	last := h.leaveLocked()
	if last {
		h.endLocked(ErrReleased)
	}
	h.seat.mu.Unlock()
	if last {
		h.giveUpSoon(UnlessDown(ctx, err), h.seat.connection())
	}
}

// leaveLocked removes a share, and reports whether it was the last.
func (h *Hold) leaveLocked() (last bool) {
	h.shares--
	return h.shares == 0
}

// leaveAll removes all shares, and reports whether there were any.
func (h *Hold) leaveAll() bool {
	h.seat.mu.Lock()
	defer h.seat.mu.Unlock()
	any := h.shares > 0
	h.shares = 0
	return any
}

// HasShares reports whether the hold has shares, lost or not. The nil hold has none.
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

// startTrace begins to trace the hold. The lease is its first, which no other
// goroutine has seen yet.
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

// tellLoss tells the tracer and the log, once, that the hold was lost. A hold that
// was released before is not.
func (h *Hold) tellLoss() {
	if cause := context.Cause(h.Context()); cause != nil && !reason.Is(cause, ErrReleased) {
		h.Trace().Lost(kindOf(cause), cause)
	}
}

// Retire ends a hold that no caller gets. It does not wait.
func (h *Hold) Retire() {
	if h.leaveAll() {
		h.End(ErrReleased)
		_ = h.giveUp(Ended)
	}
}

// LeaseOf returns the lease of a share: of the first, or of the one that the caller has
// added by Join. The lease has the values of ctx.
func (h *Hold) LeaseOf(ctx context.Context) *Lease {
	l := &Lease{hold: h, life: h.ctx, end: h.end}
	if h.all != nil {
		l.life, l.end = context.WithCancelCause(h.all)
	}
	l.workIn(leased{l.life, ctx, h})
	return l
}

// Beside returns a hold on a seat that exists beside the holder's, for a node of the
// lock of with this data, in the place of the holder's: a writer goes on as a reader. The
// token is the holder's. It returns nil if the node cannot be trusted by now.
func (h *Hold) Beside(of *Lock, node framework.Created, data []byte) *Hold {
	q := h.seat.lane
	s := &Seat{lane: q, shared: true, terms: of.terms(), data: data, token: h.seat.token}
	q.mu.Lock()
	q.live = append(q.live, s)
	q.mu.Unlock()
	beside := s.admit([]framework.Created{node}, nil)
	if beside == nil {
		s.become(Gone)
		q.vacate(s)
		return nil
	}
	beside.downgraded = true
	return beside
}

// abandon ends a hold that was lost. The client deletes the nodes in the background,
// if nobody else holds them. They may keep others waiting for as long as the server
// keeps the session, but the caller need not wait for their deletion. The cause ends
// the hold's context if nothing has ended it. That is so if a tracer has ended a
// lease's context, and only that.
func (h *Hold) abandon(cause error) {
	h.End(cause)
	h.tellLoss()
	h.Trace().Released(cause) // unless that was a loss
	h.seat.unseat(h)
	h.seat.retire()
}
