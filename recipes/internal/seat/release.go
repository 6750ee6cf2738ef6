package seat

import (
	"context"
	"errors"
	"slices"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/state"
)

// outcome is what becomes of a seat when a hold on it ends.
type outcome uint8

const (
	stays    outcome = iota // others hold it, or it was handed on, or is parked
	rests                   // nobody gets it until its minimum hold is over
	goesBack                // its nodes are deleted
)

// release decides what becomes of a seat whose holder gives it up: it is handed on,
// parked or given back. A seat can be parked only if nobody else queues, which may
// take a request. That comes first, and everything is judged again behind it.
func (q *lane) release(ctx context.Context, h *Hold) error {
	s := h.seat
	decided := false
	defer func() {
		if !decided { // the user's code has panicked, such as a retry policy
			h.drop()
		}
	}()
	if h.policy.Idle > 0 && q.mustHeed(h) {
		q.heedOthers(ctx, h)
	}
	what := q.decideRelease(h)
	decided = true
	switch what {
	case rests:
		q.rest(ctx, h)
	case goesBack:
		return s.giveBack(ctx, h)
	}
	return nil
}

func (q *lane) decideRelease(h *Hold) outcome {
	s := h.seat
	q.mu.Lock()
	defer q.mu.Unlock()
	if h.mustRest() && s.rest(h) {
		s.rests = true
		return rests
	}
	if !s.unseat(h) {
		return stays
	}
	next := q.line.first()
	switch {
	case !s.mayPass():
	case next != nil && next.isShared() == s.shared && !s.shared && (h.mayHandOn() || h.mayPark() && s.mayParkLocked()):
		q.sitLocked(next, s)
		return stays
	case next == nil && h.mayPark() && s.mayParkLocked() && s.park():
		q.parkLocked(s, h.policy.Idle)
		return stays
	}
	s.become(Leaving)
	return goesBack
}

// mayHandOn reports whether the policy lets the next goroutine of the client have the
// seat, although others may wait.
func (h *Hold) mayHandOn() bool {
	s := h.seat
	return s.turns <= h.policy.MaxReuses && s.heldFor() < h.policy.HandOver
}

// giveUp ends a hold without shares, and returns why a node may still exist.
func (h *Hold) giveUp(ctx context.Context) (err error) {
	defer h.Trace().Gone()
	defer func() { h.Trace().Released(ctx, err) }()
	if q := h.seat.lane; q != nil {
		return q.release(ctx, h)
	}
	h.seat.unseat(h)
	h.seat.become(Leaving)
	return h.seat.giveBack(ctx, h)
}

// giveUpSoon is giveUp for callers that do not wait without a connection. It
// waits for the server's answers until ctx ends, the connection breaks, or the
// session ends. The client then goes on in the background. The connection is the
// one at the beginning: what comes after a break does not wait for the next one's
// answers. The error is one that the caller can act on.
func (h *Hold) giveUpSoon(ctx, connection context.Context) error {
	return RefusalsIn(h.giveUp(insider.Of(h.seat.terms.Client).WhileConnected(ctx, connection)))
}

// drop ends a hold that nobody has, and waits for nothing.
func (h *Hold) drop() {
	h.leaveAll()
	h.end(ErrReleased)
	if h.seat.unseat(h) {
		h.seat.retire()
	}
}

// abandon ends a hold that was lost. The client deletes the nodes in the background,
// if nobody else holds them. They may keep others waiting for as long as the server
// keeps the session, but the caller need not wait for their deletion. The cause ends
// the hold's context if nothing has ended it. That is so if a tracer has ended a
// lease's context, and only that.
func (h *Hold) abandon(cause error) {
	h.end(cause)
	h.tellLoss()
	if h.seat.unseat(h) {
		h.seat.retire()
	}
	h.Trace().Gone()
}

// retire gives a seat up that nobody holds, lost or not. It does not wait: the client
// deletes the nodes in the background. A reader may have joined meanwhile.
func (s *Seat) retire() {
	s.mu.Lock()
	leaves := len(s.holds) == 0 && s.becomeLocked(Leaving)
	s.mu.Unlock()
	if !leaves {
		return
	}
	s.unwatch()
	s.waive()
	if !s.isSpent() {
		deleteInBackground(s.terms.Client, s.nodes)
	}
	s.gone(nil)
	s.vacate()
}

func (s *Seat) unwatch() {
	s.forget()
	s.Unwatch()
}

// gone is the end of a seat. The error says why a node may still exist.
func (s *Seat) gone(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = err
	s.holdersStoppedLocked()
	s.becomeLocked(Gone)
}

// giveBack deletes the nodes of a seat that is Leaving. The next goroutine gets
// another seat when the deletion is on its way: the server handles its requests
// behind that, and both go out in one write.
func (s *Seat) giveBack(ctx context.Context, h *Hold) (err error) {
	s.unwatch()
	s.waive()
	begun := false
	defer func() {
		if !begun { // the user's tracer has panicked
			deleteInBackground(s.terms.Client, s.nodes)
			s.vacate()
		}
		s.gone(err)
	}()
	ctx, told := h.Trace().During(ctx, s.terms.Client)
	defer told()
	wait := s.beginDelete(ctx)
	begun = true
	s.vacate()
	return wait()
}

// vacate lets the next goroutine have another seat, if goroutines wait for this one.
func (s *Seat) vacate() {
	if s.lane != nil {
		s.lane.vacate(s)
	}
}

// connection returns a context that ends with the present connection of the session,
// and has ended if there is none now.
func (s *Seat) connection() context.Context { return s.session().Trusted(state.StandardPolicy) }

// isConnected reports whether the connection of the seat's session stands.
func (s *Seat) isConnected() bool { return s.connection().Err() == nil }

// beginDelete begins to delete the nodes, and returns what waits for the answer.
func (s *Seat) beginDelete(ctx context.Context) (wait func() error) {
	switch {
	case s.isSpent():
		return func() error { return nil }
	case len(s.nodes) > 1:
		return func() error { return s.deleteSeveral(ctx) }
	}
	path := s.nodes[0].Path
	deleted := insider.Of(s.terms.Client).BeginDelete(ctx, path)
	return func() error { return uninterrupted(ctx, path, deleted()) }
}

// deleteSeveral deletes several nodes in one transaction. If that fails, such as
// because one of them is gone, they are deleted one by one, the last first.
func (s *Seat) deleteSeveral(ctx context.Context) error {
	left := s.nodes
	defer func() { deleteInBackground(s.terms.Client, left) }() // if the user's code panics
	if deleteTogether(ctx, s.terms.Client, left) == nil {
		left = nil
		return nil
	}
	var errs []error
	for _, n := range slices.Backward(s.nodes) {
		err := s.terms.Client.Delete(ctx, n.Path, framework.AnyVersion, framework.WithGuarantee())
		left = left[:len(left)-1]
		if err = uninterrupted(ctx, n.Path, err); err != nil {
			errs = append(errs, err)
		}
	}
	return joined(errs)
}

// uninterrupted returns the error of a deletion under a context of WhileConnected. The
// caller's context is alive, so that the end of this one must not be the reason.
func uninterrupted(ctx context.Context, path string, err error) error {
	var broken interruption
	if err != nil && reason.As(context.Cause(ctx), &broken) && !framework.IsRefusal(err) {
		return &framework.OpError{Op: "delete", Path: path, Err: broken.error}
	}
	return err
}

// deleteTogether deletes nodes by one transaction: all or none.
func deleteTogether(ctx context.Context, c *framework.Client, nodes []framework.Created) error {
	ops := make([]framework.TxnOp, len(nodes))
	for i, n := range nodes {
		ops[i] = framework.DeleteOp(n.Path, framework.AnyVersion)
	}
	_, err := c.Transaction(ctx, ops...)
	return err
}

func deleteInBackground(c *framework.Client, nodes []framework.Created) {
	for _, n := range nodes {
		framework.Extend(c).DeleteInBackground(n.Path)
	}
}

// Spent notes that the holder has deleted the nodes. The release makes no request
// then.
func (s *Seat) Spent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent = true
}

func (s *Seat) isSpent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent
}

// WhileConnected returns a copy of ctx that also ends at the first interruption
// of the session's connection. If the connection is interrupted now, the copy
// has ended.
func WhileConnected(ctx context.Context, s *framework.Session) (context.Context, context.CancelFunc) {
	connection := s.Trusted(state.StandardPolicy)
	under, end := context.WithCancelCause(ctx)
	interrupt := func() { end(interruption{context.Cause(connection)}) }
	if connection.Err() != nil {
		interrupt()
		return under, func() {}
	}
	stop := context.AfterFunc(connection, interrupt)
	return under, func() {
		stop()
		end(nil)
	}
}

// interruption is the cause with which a context of WhileConnected ends, unless
// the caller's context has ended.
type interruption struct{ error }

// duringRelease returns a context for the requests of a release, before the
// nodes are deleted. It ends when the connection breaks. The function returned must
// be called after them.
func (h *Hold) duringRelease(ctx context.Context) (_ context.Context, done func()) {
	under, end := WhileConnected(ctx, h.seat.session())
	under, wait := h.Trace().During(under, h.seat.terms.Client)
	return under, func() {
		wait()
		end()
	}
}

// RefusalsIn returns the part of a release's error that its caller can act on:
// the server refuses to delete a node. The client retries all other deletions
// by itself.
func RefusalsIn(err error) error {
	if err == nil {
		return nil
	}
	errs := []error{err}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		errs = several.Unwrap()
	}
	return joined(slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return !framework.IsRefusal(err) }))
}

// joined is errors.Join, but returns a single error as it is: most locks have
// one node.
func joined(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
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
var Ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
