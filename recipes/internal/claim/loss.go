package claim

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/locktrace"
)

// A claim's context ends with one of these causes, or with one of the
// framework's: ErrSessionLost, ErrSuspended and ErrClosed.
var (
	ErrReleased    = errors.New("lease released")
	ErrNodeDeleted = errors.New("lock node deleted by someone else")
	ErrRevoked     = errors.New("lock revoked")
)

// Lose ends the claim's context with a cause, and makes it Lost.
func (c *Claim) Lose(cause error) {
	c.spare(cause)
	c.end(cause)
	c.contextEnded()
}

// NodeDeleted makes a claim that is Held Lost, with ErrNodeDeleted as the cause. It
// is for callers that learn of the deletion before the claim's watch tells of it. It
// must not block.
func (c *Claim) NodeDeleted() { c.watcher.deleted() }

// contextEnded makes the claim Lost if its context has ended and it is not
// being released. The session calls it when the session has ended, after the
// contexts of all claims that end at the same moment. It must not block.
func (c *Claim) contextEnded() {
	cause := context.Cause(c.ctx)
	if cause == nil || reason.Is(cause, ErrReleased) || !c.become(Lost) {
		return
	}
	c.spare(cause)
	c.mu.Lock()
	place := c.place
	c.mu.Unlock()
	if place != nil {
		place.Free()
	}
	c.tellLoss()
	c.eachMember((*Claim).contextEnded)
}

// spare has Close of the client leave the nodes of a claim that is lost to the
// servers for as long as the safety margin: the holder may still be stopping. Whoever
// ends the context of a claim calls spare before, so that a holder that calls Close
// at once does not come too early. Where the framework ends the context itself, Close
// waits for contextEnded. spare must not block.
//
// No node is left to spare if the only one was deleted. Close leaves a session that is
// lost to the servers anyway. A lease that Close itself ends is not spared.
func (c *Claim) spare(cause error) {
	switch {
	case c.memberOf != nil: // the claim to the nodes does it
		return
	case reason.Is(cause, ErrNodeDeleted) && len(c.nodes) == 1:
		return
	case reason.Is(cause, framework.ErrSessionLost), reason.Is(cause, framework.ErrClosed):
		return
	}
	until := time.Now().Add(c.nodes[0].Session.SafetyMargin())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spared != nil || c.state.final() {
		return
	}
	for _, n := range c.nodes {
		c.spared = append(c.spared, insider.Of(c.terms.Client).KeepUntil(n.Session.ID(), n.Path, until))
	}
}

func (c *Claim) holderStopped() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holderStoppedLocked()
}

// holderStoppedLocked takes back what spare has done. A client that is closed has
// spared the nodes already, or is about to.
func (c *Claim) holderStoppedLocked() {
	if c.spared == nil || framework.Extend(c.terms.Client).Context().Err() != nil {
		return
	}
	for _, takeBack := range c.spared {
		takeBack()
	}
	c.spared = nil
}

// tellLoss tells the tracer and the log, once, that the claim was lost.
func (c *Claim) tellLoss() {
	cause := context.Cause(c.ctx)
	c.Trace().Lost(kindOf(cause), cause)
}

// Loss returns why the claim's context has ended. It is for callers that
// learned of the end from the session. It waits for the end to reach the claim.
func (c *Claim) Loss() error {
	<-c.ctx.Done()
	return context.Cause(c.ctx)
}

func kindOf(cause error) locktrace.EndCause {
	switch {
	case reason.Is(cause, framework.ErrClosed):
		return locktrace.EndClientClosed
	case reason.Is(cause, framework.ErrSessionLost):
		return locktrace.EndSessionLost
	case reason.Is(cause, framework.ErrSuspended):
		return locktrace.EndSuspended
	case reason.Is(cause, ErrNodeDeleted):
		return locktrace.EndNodeDeleted
	case reason.Is(cause, ErrRevoked):
		return locktrace.EndRevoked
	default:
		return locktrace.EndOther
	}
}
