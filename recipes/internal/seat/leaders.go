package seat

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// Lead makes the hold a leader's, which has one lease and gives the seat up by
// Keep or Dissolve. If the hold is lost, or a tracer has ended the lease's context,
// the release of the lease leaves the nodes to the leader, and only closes the
// channel: the holder has stopped.
func (h *Hold) Lead() (stopped <-chan struct{}) {
	holder, stop := context.WithCancel(context.Background())
	h.seat.mu.Lock()
	defer h.seat.mu.Unlock()
	h.stopped = stop
	return holder.Done()
}

// Lose ends the hold with a cause, and makes its seat Lost.
func (h *Hold) Lose(cause error) { h.seat.lose(cause) }

// Dissolve gives the hold up for all its shares. It returns when the nodes are
// gone or, if they are lost anyway, when the client deletes them in the
// background. The error says why a node may still exist. Another call waits for
// what is left then. The holder of a hold that was lost has had its time to
// stop when the leader calls this.
func (h *Hold) Dissolve(ctx context.Context) error {
	s := h.seat
	if !h.leaveAll() { // another goroutine is releasing the last share
		return h.AwaitRelease(ctx)
	}
	switch cause := context.Cause(h.Context()); {
	case cause == nil, reason.Is(cause, ErrReleased):
		h.End(ErrReleased)
		return h.giveUp(ctx)
	case reason.Is(cause, ErrRevoked), reason.Is(cause, framework.ErrSuspended) && s.session().Context().Err() == nil:
		h.Stopped()
		return s.giveBack(ctx, h)
	default:
		s.lose(cause)
		h.abandon(cause)
		return nil
	}
}

// Stopped notes that the holder has stopped, and tells the leader. If the hold was lost,
// Close of the client need not spare the nodes any more.
func (h *Hold) Stopped() {
	s := h.seat
	if cause := context.Cause(h.Context()); cause != nil && !reason.Is(cause, ErrReleased) {
		s.lose(cause) // perhaps nothing has called it yet
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holdersStoppedLocked()
	if h.stopped != nil {
		h.stopped()
	}
}

// AwaitRelease waits until another goroutine has released the last share. The error says
// why a node may still exist.
func (h *Hold) AwaitRelease(ctx context.Context) error {
	s := h.seat
	select {
	case <-s.Over():
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// Keep takes the nodes from a hold that suspension has ended, for the next
// hold of the same leader. It reports false if they must be deleted: the hold
// was given up before, or somebody has asked for the leadership.
func (h *Hold) Keep() bool {
	s := h.seat
	s.lose(context.Cause(h.Context())) // perhaps nothing has called it yet
	if s.isRequested() || !h.leaveAll() {
		return false
	}
	s.forget()
	s.keepNodes()
	return s.become(Kept)
}
