package claim

import (
	"context"
	"errors"
	"slices"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/state"
)

// Lead makes the claim a leader's, which has one lease and gives the claim up by
// Keep or Dissolve. If the claim is lost, or a tracer has ended the lease's context,
// the release of the lease leaves the nodes to the leader, and only closes the
// channel: the holder has stopped.
func (c *Claim) Lead() (stopped <-chan struct{}) {
	holder, stop := context.WithCancel(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = stop
	return holder.Done()
}

// Stop ends the context of a claim that its leader, or the last of its members,
// gives up. A leader calls Dissolve next.
func (c *Claim) Stop() {
	c.end(ErrReleased)
	if reason.Is(context.Cause(c.ctx), ErrReleased) { // otherwise it was lost before
		c.become(Releasing)
	}
}

// Dissolve gives the claim up for all its shares. It returns when the nodes are
// gone or, if they are lost anyway, when the client deletes them in the
// background. The error says why a node may still exist. Another call waits for
// what is left then. The holder of a claim that was lost has had its time to
// stop when the leader calls this.
func (c *Claim) Dissolve(ctx context.Context) error {
	if !c.leaveAll() { // another goroutine is releasing the last share
		return c.AwaitRelease(ctx)
	}
	switch cause := context.Cause(c.ctx); {
	case cause == nil, reason.Is(cause, ErrReleased):
		return c.GiveUp(ctx)
	case reason.Is(cause, ErrRevoked), reason.Is(cause, framework.ErrSuspended) && c.sessionLives():
		c.contextEnded()
		c.holderStopped()
		c.unwatch()
		defer c.Trace().Wait(ctx)
		defer c.become(Released)
		return c.deleteNodes(ctx)
	default:
		c.abandon(cause)
		c.Trace().Wait(ctx)
		return nil
	}
}

func (c *Claim) sessionLives() bool { return c.nodes[0].Session.Context().Err() == nil }

// AwaitRelease waits until another goroutine has released the last share, and
// for the nodes if that goroutine did not. The error says why a node may still
// exist.
func (c *Claim) AwaitRelease(ctx context.Context) error {
	select {
	case <-c.Over():
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
	c.mu.Lock()
	leftover := c.leftover
	c.mu.Unlock()
	if leftover == nil || framework.IsRefusal(leftover) {
		return leftover
	}
	return c.deleteNodes(ctx) // the client is doing the same
}

// Keep takes the nodes from a claim that suspension has ended, for the next
// claim of the same leader. It reports false if they must be deleted: the claim
// was given up before, or somebody has asked for the leadership.
func (c *Claim) Keep() bool {
	c.contextEnded()
	if c.IsRequested() || !c.leaveAll() {
		return false
	}
	c.watcher.forget()
	c.watcher.endKept()
	return c.become(Kept)
}

// GiveUp passes the nodes of a claim without shares on, or deletes them. The nodes
// of a member stay with the other members. The error says why a node may still exist.
func (c *Claim) GiveUp(ctx context.Context) (err error) {
	next := Released
	defer func() { c.become(next) }()
	defer func() { c.Trace().Released(ctx, err) }()
	c.become(Releasing)
	if c.leaveOthers() {
		c.end(ErrReleased)
		if c.State() == Releasing {
			next = HandedOver
		}
		return nil
	}
	if c.State() == Releasing && c.passOn(ctx) { // otherwise it was lost meanwhile
		next = HandedOver
		return nil
	}
	c.unwatch()
	c.end(ErrReleased)
	c.freePlace()
	return c.deleteNodes(ctx)
}

// giveUpSoon is GiveUp for callers that do not wait without a connection. It
// waits for the server's answers until ctx ends, the connection breaks, or the
// session ends. The client then goes on in the background. The connection is the
// one at the beginning: what comes after a break does not wait for the next one's
// answers. The error is one that the caller can act on.
func (c *Claim) giveUpSoon(ctx, connection context.Context) error {
	return RefusalsIn(c.GiveUp(insider.Of(c.terms.Client).WhileConnected(ctx, connection)))
}

// connection returns a context that ends with the present connection of the session.
func (c *Claim) connection() context.Context {
	return c.nodes[0].Session.Trusted(state.StandardPolicy)
}

// abandon has the client delete the nodes of a lost claim in the background.
// They may keep others waiting for as long as the server keeps the session, but
// the caller need not wait for their deletion. The cause ends the claim's
// context if nothing has ended it. That is so if a tracer has ended a lease's
// context, and only that.
func (c *Claim) abandon(cause error) {
	c.end(cause)
	if !c.leaveOthers() {
		c.unwatch()
		c.freePlace()
		DeleteInBackground(c.terms.Client, c.nodes)
	}
	c.contextEnded()
	c.tellLoss()
	c.become(Released)
}

func (c *Claim) unwatch() {
	c.watcher.forget()
	c.watcher.end()
}

func (c *Claim) passOn(ctx context.Context) bool {
	place := c.placeNow()
	if place == nil {
		return false
	}
	complete := false
	defer func() {
		if !complete { // the user's code has panicked, such as a retry policy
			c.Retire()
		}
	}()
	passed := place.PassOn(ctx, c)
	complete = true
	return passed
}

func (c *Claim) freePlace() {
	if place := c.placeNow(); place != nil {
		place.Free()
	}
}

// placeNow returns the claim's place, or nil. Members of a claim have its place.
func (c *Claim) placeNow() Place {
	if c.memberOf != nil {
		return c.memberOf.of.placeNow()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.place
}

// Unwatch is for a holder that is about to delete the nodes by itself: their
// deletion is no loss then.
func (c *Claim) Unwatch() { c.watcher.end() }

// Spent notes that the holder has deleted the nodes. The claim's release makes no
// request then.
func (c *Claim) Spent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spent = true
}

func (c *Claim) isSpent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spent
}

// deleteNodes deletes the nodes and notes the error. Several are deleted in one
// transaction. If that fails, such as because one of them is gone, they are
// deleted one by one, the last first.
func (c *Claim) deleteNodes(ctx context.Context) error {
	if c.isSpent() {
		return nil
	}
	left := c.nodes
	defer func() { DeleteInBackground(c.terms.Client, left) }() // if the user's code panics
	ctx, wait := c.Trace().During(ctx, c.terms.Client)
	defer wait()
	var errs []error
	if len(left) > 1 && deleteTogether(ctx, c.terms.Client, left) == nil {
		left = nil
		return nil
	}
	for _, n := range slices.Backward(c.nodes) {
		left = left[:len(left)-1]
		err := c.terms.Client.Delete(ctx, n.Path, framework.AnyVersion, framework.WithGuarantee())
		if err == nil {
			continue
		}
		var broken interruption
		if reason.As(context.Cause(ctx), &broken) && !framework.IsRefusal(err) {
			// The caller's context is alive, so the end of that context must
			// not be the reason.
			err = &framework.OpError{Op: "delete", Path: n.Path, Err: broken.error}
		}
		errs = append(errs, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leftover = joined(errs)
	return c.leftover
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

// DeleteInBackground deletes nodes that were admitted, but have no claim.
func DeleteInBackground(c *framework.Client, nodes []framework.Created) {
	for _, n := range nodes {
		framework.Extend(c).DeleteInBackground(n.Path)
	}
}

// WhileConnected returns a copy of ctx that also ends at the first interruption
// of the session's connection. If the connection is interrupted now, the copy
// has ended.
func WhileConnected(ctx context.Context, s *framework.Session) (context.Context, context.CancelFunc) {
	connection := connectionOf(s)
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

// connectionOf returns a context that ends at the next interruption of the
// session's connection, and has ended if there is none now.
func connectionOf(s *framework.Session) context.Context { return s.Trusted(state.StandardPolicy) }

// interruption is the cause with which a context of WhileConnected ends, unless
// the caller's context has ended.
type interruption struct{ error }

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
