package claim

import "context"

// A claim without shares is idle as long as no goroutine holds the lock. Its
// nodes stay all the same, so that nobody else gets the lock. A goroutine that
// takes it makes the first lease. Otherwise somebody calls Retire.

// IsTrusted reports whether the claim can be given to a goroutine now, which is
// told of nothing that has happened before. No request has just proved that the
// session lives, so that its clock is asked.
func (c *Claim) IsTrusted() bool {
	return c.ctx.Err() == nil && !c.IsRequested() && c.nodes[0].Session.IsInTime()
}

// IsConnected reports whether the connection of the claim's session stands.
func (c *Claim) IsConnected() bool { return connectionOf(c.nodes[0].Session).Err() == nil }

// Retire gives up a claim without shares, lost or not. It does not wait: the
// client deletes the nodes in the background. Nobody works under the claim, so
// that they need not stay for a while after a loss.
func (c *Claim) Retire() {
	c.become(Releasing)
	c.unwatch()
	c.end(ErrReleased)
	DeleteInBackground(c.terms.Client, c.nodes)
	c.become(Released)
	c.freePlace()
}

// DuringRelease returns a context for the requests of a release, before the
// nodes are deleted. It ends when the connection breaks. The function returned must
// be called after them.
func (c *Claim) DuringRelease(ctx context.Context) (_ context.Context, done func()) {
	under, end := WhileConnected(ctx, c.nodes[0].Session)
	under, wait := c.Trace().During(under, c.terms.Client)
	return under, func() {
		wait()
		end()
	}
}
