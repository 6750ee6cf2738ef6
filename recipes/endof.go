package recipes

import "context"

// joined returns a context that ends with the lease and has the values of ctx, without its end. An acquire under it finds
// the claim. It does not lead to the lease itself.
func (l *Lease) joined(ctx context.Context) context.Context {
	return contextOf{l.held, l.hold.valuesOf(ctx)}
}

// workIn sets the lease's context.
func (l *Lease) workIn(held context.Context) {
	l.held, l.ctx = held, leaseContext{held, l}
}

// leaseContext is a context in which LeaseFromContext finds the lease.
//
// It is outside of those that end with the session, to which the session leads: they know nothing of the lease. So a lease
// that the user has dropped can be collected, and reported; see Lease.watch. Contexts that the user derives from it keep
// the lease as long as they live, since package context registers them with the one within.
type leaseContext struct {
	context.Context
	lease *Lease
}

func (c leaseContext) Value(key any) any {
	if key == (leaseKey{}) {
		return c.lease
	}
	return c.Context.Value(key)
}

// contextOf is a context that ends with one and has the values of another, and behind those, the values of the one. The end
// of values must have been taken away by context.WithoutCancel: that also hides the value by which package context
// finds the parent of a context, so that it finds the right one.
type contextOf struct {
	context.Context
	values context.Context
}

// leaseKey finds the innermost lease that a context is under.
type leaseKey struct{}

func (c contextOf) Value(key any) any {
	if v := c.values.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

// LeaseFromContext returns the lease that work is done under, from Lease.Context, Lease.Under, Do, or a LeaderSelector: for
// its FencingToken, and its Revoked. Of several leases that ctx is under it is the innermost.
func LeaseFromContext(ctx context.Context) (*Lease, bool) {
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	return l, ok
}
