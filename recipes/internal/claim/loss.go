package claim

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework"
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
	c.mu.Lock()
	place := c.place
	c.mu.Unlock()
	if place != nil {
		place.Free()
	}
	c.tellLoss()
	c.eachMember((*Claim).contextEnded)
}

// tellLoss tells the tracer and the log, once, that the claim was lost.
func (c *Claim) tellLoss() {
	cause := context.Cause(c.ctx)
	nodes := c.nodes[0].Session.Context()
	if len(c.nodes) == 1 && reason.Is(cause, ErrNodeDeleted) {
		nodes = ended
	}
	c.Trace().Lost(nodes, kindOf(cause), cause)
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
