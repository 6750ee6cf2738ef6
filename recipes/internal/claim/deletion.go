package claim

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// TellDeletion has the deletion of the nodes note in r what it outlasts, for
// those who wait for it and have not begun it.
func (c *Claim) TellDeletion(r *follow.Recovery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removal = r
}

// toldOf returns what the deletion tells, or nil.
func (c *Claim) toldOf() *follow.Recovery {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.removal
}

// telling returns a copy of ctx for a deletion, and what to call with its error.
func (c *Claim) telling(ctx context.Context) (_ context.Context, done func(error)) {
	r := c.toldOf()
	if r == nil {
		return ctx, func(error) {}
	}
	return framework.Extend(c.terms.Client).OnTrouble(ctx, r.Note), func(err error) {
		if err == nil {
			r.Note(nil)
		}
	}
}

// gaveUp is the error of a caller who waits for another one's deletion, and
// whose context has ended.
func (c *Claim) gaveUp(ctx context.Context) error {
	if r := c.toldOf(); r != nil {
		return r.GaveUp(ctx)
	}
	return reason.OfContext(ctx)
}
