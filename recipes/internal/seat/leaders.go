package seat

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// Lead makes the hold a leader's. A leader's hold has one lease, and the leader ends the
// hold with Keep or Dissolve. If the hold was lost, or a tracer has ended the lease's
// context, releasing the lease leaves the nodes to the leader and only closes the
// returned channel: the holder has stopped.
func (h *Hold) Lead() (stopped <-chan struct{}) {
	holder, stop := context.WithCancel(context.Background())
	h.seat.mu.Lock()
	defer h.seat.mu.Unlock()
	h.stopped = stop
	return holder.Done()
}

// Lose ends the hold with a cause, and makes its seat Lost.
func (h *Hold) Lose(cause error) { h.seat.lose(cause) }

// Dissolve releases the hold for all its shares. It returns when the nodes are deleted.
// If the hold was lost in a way that makes waiting pointless, it returns when the client
// deletes the nodes in the background. The error says why a node may still exist. If
// another goroutine is already releasing the last share, Dissolve waits for that release.
// Before a leader calls Dissolve for a lost hold, it has given the holder time to stop.
func (h *Hold) Dissolve(ctx context.Context) error {
	s := h.seat
	if !h.dropShares() { // another goroutine is releasing the last share
		return h.AwaitRelease(ctx)
	}
	switch cause := context.Cause(h.Context()); {
	case cause == nil, reason.Is(cause, ErrReleased):
		h.End(ErrReleased)
		return h.release(ctx)
	case reason.Is(cause, ErrRevoked), reason.Is(cause, framework.ErrSuspended) && s.session().Context().Err() == nil:
		h.Stopped()
		return s.deleteNodes(ctx, h)
	default:
		s.lose(cause)
		h.releaseInBackground(cause)
		return nil
	}
}

// Stopped records that the holder has stopped, and notifies the leader. If the hold was
// lost, Close of the client need not spare the nodes any longer.
func (h *Hold) Stopped() {
	s := h.seat
	if cause := context.Cause(h.Context()); cause != nil && !reason.Is(cause, ErrReleased) {
		s.lose(cause) // the loss may not have been reported yet
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

// Keep takes the nodes from a hold that a suspended connection has ended, for the next
// hold of the same leader. It returns false if the nodes must be deleted: the hold was
// already released, or another client has asked for the leadership.
func (h *Hold) Keep() bool {
	s := h.seat
	s.lose(context.Cause(h.Context())) // the loss may not have been reported yet
	if s.isRequested() || !h.dropShares() {
		return false
	}
	s.forget()
	s.keepNodes()
	return s.become(Kept)
}
