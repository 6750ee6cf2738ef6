package seat

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/state"
)

// mayHandOn reports whether the policy allows handing the seat to the client's next
// goroutine, even if other clients wait.
func (h *Hold) mayHandOn() bool {
	s := h.seat
	return int(s.turns) <= h.policy.MaxReuses && time.Since(s.granted) < h.policy.HandOver
}

// mayPark reports whether the policy allows parking the seat.
func (h *Hold) mayPark() bool {
	s := h.seat
	return h.policy.Idle > 0 && int(s.turns) <= h.policy.MaxReuses && !s.contended && s.parks && !s.reading.isClosed() &&
		s.mayPass() && s.isConnected()
}

// release ends a hold without shares, and returns why a node may still exist. The seat
// is handed on, is parked, rests, or ends. A seat can be parked only if no other contender
// queues. To find that out may take a request, so release makes that request first, and
// decides after it. The caller's ctx bounds the wait for every request.
func (h *Hold) release(ctx context.Context) (err error) {
	s := h.seat
	defer func() { h.Trace().Released(err) }()
	if s.lane == nil {
		return s.deleteNodes(ctx, h)
	}
	defer func() { // even if a hook has panicked before
		switch s.lane.decideRelease(h) {
		case ends:
			err = s.deleteNodes(ctx, h)
		case rests:
			s.minimum.rest(ctx)
		}
	}()
	if h.policy.Idle > 0 {
		h.watchOthers(ctx)
	}
	return nil
}

// releaseWhileConnected is release for callers that must not wait without a connection. It
// waits for the server's answers until ctx, the connection or the session ends. After
// that, the client continues in the background. The argument is the connection at the
// start of the release: after a break, releaseWhileConnected does not wait for answers on
// the next connection. It returns only errors on which the caller can act.
func (h *Hold) releaseWhileConnected(ctx, connection context.Context) error {
	return RefusalsIn(h.release(insider.Of(h.seat.client).WhileConnected(ctx, connection)))
}

// watchOthers sets a watch on the queue, if the seat could be parked then. The watch also
// fires for contenders that have already left again: they have found the lock held.
func (h *Hold) watchOthers(ctx context.Context) {
	s, q := h.seat, h.seat.lane
	q.mu.Lock()
	needed := h.mayPark() && s.parking == nil
	q.mu.Unlock()
	if !needed {
		return
	}
	if watch := watchAlone(ctx, s); watch != nil {
		q.mu.Lock()
		unparkOnLocked(s, watch)
		q.mu.Unlock()
	}
}

// deleteNodes deletes the nodes of a seat after its last hold. As soon as the deletion is
// sent, the next goroutine gets another seat: the server handles its requests after the
// deletion, and both go out in one write.
func (s *Seat) deleteNodes(ctx context.Context, h *Hold) (err error) {
	s.unseat(h)
	s.become(Deleting)
	s.forget()
	s.unwatch()
	defer func() { s.gone(err) }()
	wait := s.beginDelete(ctx)
	s.vacate()
	return wait()
}

// connection returns a context that ends with the session's current connection. If there
// is no connection, the context has already ended.
func (s *Seat) connection() context.Context { return s.session().Trusted(state.StandardPolicy) }

// isConnected reports whether the seat's session has a connection.
func (s *Seat) isConnected() bool { return s.connection().Err() == nil }

// beginDelete sends the deletion of the nodes, and returns a function that waits for the
// answer.
func (s *Seat) beginDelete(ctx context.Context) (wait func() error) {
	switch {
	case s.spent.Load():
		return func() error { return nil }
	case len(s.nodes) > 1:
		return func() error { return s.deleteSeveral(ctx) }
	}
	return insider.Of(s.client).BeginDelete(ctx, s.nodes[0].Path)
}

// deleteSeveral deletes several nodes in one transaction. If the transaction fails, for
// example because a node is already gone, deleteSeveral deletes the nodes one by one in
// reverse order.
func (s *Seat) deleteSeveral(ctx context.Context) error {
	left := s.nodes
	defer func() { deleteInBackground(s.client, left) }() // in case a hook panics
	ops := make([]framework.TxnOp, len(s.nodes))
	for i, n := range s.nodes {
		ops[i] = framework.DeleteOp(n.Path, framework.AnyVersion)
	}
	if _, err := s.client.Transaction(ctx, ops...); err == nil {
		left = nil
		return nil
	}
	var errs []error
	for _, n := range slices.Backward(s.nodes) {
		left = left[:len(left)-1] // Delete retries this one in the background
		errs = append(errs, s.client.Delete(ctx, n.Path, framework.AnyVersion, framework.WithGuarantee()))
	}
	return errors.Join(errs...)
}

// WhileConnected returns a context for requests that end with the session's current
// connection. If there is no connection, the requests fail at once.
func WhileConnected(ctx context.Context, c *framework.Client, s *framework.Session) context.Context {
	return insider.Of(c).WhileConnected(ctx, s.Trusted(state.StandardPolicy))
}

// RefusalsIn returns the part of a release's error on which the caller can act: the
// server's refusals to delete a node. The client retries all other deletions by itself.
func RefusalsIn(err error) error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		errs := slices.Clone(several.Unwrap())
		return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return !framework.IsRefusal(err) })...)
	}
	if framework.IsRefusal(err) {
		return err
	}
	return nil
}

// UnlessDown returns a context for the clean-up after an error. If the error means that
// there is no connection, the context has ended, so that the caller does not wait for the
// clean-up.
func UnlessDown(ctx context.Context, err error) context.Context {
	if framework.IsConnectionError(err) {
		return Ended
	}
	return ctx
}

// Ended is a context that has ended, for clean-up without waiting.
var Ended, _ = context.WithTimeout(context.Background(), 0)
