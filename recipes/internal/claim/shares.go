package claim

import (
	"context"

	"github.com/gocurator/curator/recipes/internal/trace"
	"github.com/gocurator/curator/recipes/locktrace"
)

// FromContext returns the claim with this key that ctx was made under, by a
// lease's context, or nil.
func FromContext(ctx context.Context, key any) *Claim {
	c, _ := ctx.Value(key).(*Claim)
	return c
}

// Reenter returns another lease of the claim that ctx is under. It returns nil
// if there is none, or it was given up. The loss of a claim is an error: its
// holder believes that it holds the lock, and must not silently go to the end
// of the queue.
func Reenter(ctx context.Context, key any) (*Lease, error) {
	c := FromContext(ctx, key)
	if c == nil {
		return nil, nil
	}
	if joined, err := c.Join(); !joined {
		return nil, err
	}
	l, complete := c.LeaseOf(ctx), false
	defer func() {
		if !complete { // the user's code has panicked, and no caller will get the lease
			l.Release(ctx)
		}
	}()
	c.Trace().Reentered(ctx)
	complete = true
	return l, nil
}

// Join adds a share, unless the claim was given up, or lost.
func (c *Claim) Join() (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.shares <= 0:
		return false, nil
	case c.ctx.Err() != nil:
		return false, context.Cause(c.ctx)
	}
	c.shares++
	return true, nil
}

// Leave removes a share that Join has added. A claim without shares is given
// up. Leave waits for the deletion, unless err says that there is no
// connection. The caller got err from the server.
func (c *Claim) Leave(ctx context.Context, err error) {
	c.mu.Lock()
	last := c.leaveLocked()
	c.mu.Unlock()
	if last {
		c.giveUpSoon(UnlessDown(ctx, err), c.connection())
	}
}

// HasShares reports whether the claim has shares, lost or not. The nil claim
// has none.
func (c *Claim) HasShares() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shares > 0
}

// First returns the lease of the first share.
func (c *Claim) First(ctx context.Context) *Lease {
	c.shares = 1
	return c.LeaseOf(ctx)
}

// StartTrace begins to trace the hold. The lease is its first, which no other
// goroutine has seen yet.
func (c *Claim) StartTrace(first *Lease, of locktrace.Acquire, acquired *trace.Acquire) {
	t, work := trace.StartHold(first.held(), of, locktrace.Hold{Node: first.Path(), Token: c.Token()}, acquired)
	if acquired.IsTraced() {
		first.workIn(work)
	}
	c.mu.Lock()
	c.trace = t
	c.mu.Unlock()
	if c.IsRequested() {
		t.Revoked()
	}
	c.contextEnded() // perhaps nothing has called it yet
	if c.State() == Lost {
		c.tellLoss()
	}
}

// leaveLocked removes a share, and reports whether it was the last.
func (c *Claim) leaveLocked() (last bool) {
	c.shares--
	return c.shares == 0
}

// leaveAll removes all shares, and reports whether there were any.
func (c *Claim) leaveAll() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	any := c.shares > 0
	c.shares = 0
	return any
}
