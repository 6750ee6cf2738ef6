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

// mayHandOn reports whether the policy lets the next goroutine of the client have the
// seat, although others may wait.
func (h *Hold) mayHandOn() bool {
	s := h.seat
	return s.turns <= h.policy.MaxReuses && time.Since(s.granted) < h.policy.HandOver
}

// giveUp ends a hold without shares, and returns why a node may still exist. It decides
// what becomes of the seat: it is handed on, parked or given back. A seat can be parked
// only if no other contender queues, which may take a request. That comes first, and
// everything is judged again after it. The caller's ctx decides how long every request
// waits: see giveUpSoon.
func (h *Hold) giveUp(ctx context.Context) (err error) {
	s := h.seat
	defer func() { h.Trace().Released(err) }()
	if s.lane == nil {
		return s.giveBack(ctx, h)
	}
	defer func() { // also if a hook panics before
		switch s.lane.decideRelease(h) {
		case goesBack:
			err = s.giveBack(ctx, h)
		case rests:
			s.minimum.rest(ctx)
		}
	}()
	if h.policy.Idle > 0 {
		h.heedOthers(ctx)
	}
	return nil
}

// giveUpSoon is giveUp for callers that do not wait without a connection. It
// waits for the server's answers until ctx ends, the connection breaks, or the
// session ends. The client then goes on in the background. The connection is the
// one at the beginning: what comes after a break does not wait for the next one's
// answers. The error is one that the caller can act on.
func (h *Hold) giveUpSoon(ctx, connection context.Context) error {
	return RefusalsIn(h.giveUp(insider.Of(h.seat.client).WhileConnected(ctx, connection)))
}

// giveBack deletes the nodes of a seat whose last holder gives it up. The next goroutine
// gets another seat when the deletion is on its way: the server handles its requests
// after the deletion, and both go out in one write.
func (s *Seat) giveBack(ctx context.Context, h *Hold) (err error) {
	s.unseat(h)
	s.become(Leaving)
	s.unwatch()
	defer func() { s.gone(err) }()
	wait := s.beginDelete(ctx)
	s.vacate()
	return wait()
}

// connection returns a context that ends with the present connection of the session,
// and has ended if there is none now.
func (s *Seat) connection() context.Context { return s.session().Trusted(state.StandardPolicy) }

// isConnected reports whether the connection of the seat's session stands.
func (s *Seat) isConnected() bool { return s.connection().Err() == nil }

// beginDelete begins to delete the nodes, and returns what waits for the answer.
func (s *Seat) beginDelete(ctx context.Context) (wait func() error) {
	switch {
	case s.spent.Load():
		return func() error { return nil }
	case len(s.nodes) > 1:
		return func() error { return s.deleteSeveral(ctx) }
	}
	return insider.Of(s.client).BeginDelete(ctx, s.nodes[0].Path)
}

// deleteSeveral deletes several nodes in one transaction. If that fails, such as
// because one of them is gone, they are deleted one by one, the last first.
func (s *Seat) deleteSeveral(ctx context.Context) error {
	left := s.nodes
	defer func() { deleteInBackground(s.client, left) }() // if a hook panics
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
		left = left[:len(left)-1] // Delete sees to this one
		errs = append(errs, s.client.Delete(ctx, n.Path, framework.AnyVersion, framework.WithGuarantee()))
	}
	return errors.Join(errs...)
}

// WhileConnected returns a context for requests that do not survive the end of the
// session's present connection. If there is none now, the requests fail at once.
func WhileConnected(ctx context.Context, c *framework.Client, s *framework.Session) context.Context {
	return insider.Of(c).WhileConnected(ctx, s.Trusted(state.StandardPolicy))
}

// RefusalsIn returns the part of a release's error that its caller can act on:
// the server refuses to delete a node. The client retries all other deletions
// by itself.
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

// UnlessDown returns a context for the clean-up that follows an error. If the
// error says that there is no connection, the context has ended, so that no
// caller waits for the clean-up.
func UnlessDown(ctx context.Context, err error) context.Context {
	if framework.IsConnectionError(err) {
		return Ended
	}
	return ctx
}

// Ended is a context that has ended, for clean-up that nobody waits for.
var Ended, _ = context.WithTimeout(context.Background(), 0)

// mayPark reports whether the policy lets the seat stay in the process.
func (h *Hold) mayPark() bool {
	s := h.seat
	return h.policy.Idle > 0 && s.turns <= h.policy.MaxReuses && !s.contended && s.parks && !s.reading.isClosed() &&
		s.mayPass() && s.isConnected()
}

// heedOthers looks at the queue with a watch, if the seat can be parked then. The watch
// also fires for contenders that have left again: they have found the lock held.
func (h *Hold) heedOthers(ctx context.Context) {
	s, q := h.seat, h.seat.lane
	q.mu.Lock()
	needed := h.mayPark() && s.parking == nil
	q.mu.Unlock()
	if !needed {
		return
	}
	if watch := watchAlone(ctx, s); watch != nil {
		q.mu.Lock()
		heedLocked(s, watch)
		q.mu.Unlock()
	}
}
