package recipes

import "context"

// under returns a context that ends with the lease's claim and has the values of ctx, without its end. An acquire under it
// finds the claim, and LeaseFromContext the lease.
func (l *Lease) under(ctx context.Context) context.Context {
	end := l.ctx
	if end == nil { // the lease's own context is being made
		end = l.hold.ctx
	}
	return contextOf{end, l.hold.valuesOf(ctx), l}
}

// contextOf is a context that ends with one and has the values of another, and behind those, the values of the one. The end
// of values must have been taken away by context.WithoutCancel: that also hides the value by which package context
// finds the parent of a context, so that it finds the right one.
type contextOf struct {
	context.Context
	values context.Context
	lease  *Lease
}

// leaseKey finds the innermost lease that a context is under.
type leaseKey struct{}

func (c contextOf) Value(key any) any {
	if key == (leaseKey{}) {
		return c.lease
	}
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
