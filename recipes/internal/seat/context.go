package seat

import (
	"context"
	"time"

	"github.com/gocurator/curator/recipes/internal/token"
)

// merged is a context that ends with one context and has the values of another. The
// values of the first context come second. The argument values must come from
// context.WithoutCancel, which also hides the value by which package context finds a
// context's parent. Package context then finds the parent of the first context.
type merged struct {
	context.Context
	values context.Context
}

func (c merged) Value(key any) any {
	if v := c.values.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

// leased is like merged, for the life of a lease, and also has the hold as the value of
// its key. The only value of a life is the one by which package context finds a context's
// parent. That value comes first, so it need not be hidden.
type leased struct {
	context.Context
	values context.Context
	hold   *Hold
}

func (c leased) Value(key any) any {
	if key == c.hold.seat.key {
		return c.hold
	}
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.values.Value(key)
}

// underHolds is a context under several holds. The key of each hold has the hold as its
// value.
type underHolds struct {
	context.Context
	held []*Hold
}

func (c underHolds) Value(key any) any {
	for _, h := range c.held {
		if h.seat.key == key {
			return h
		}
	}
	return c.Context.Value(key)
}

// leaseContext is a context in which LeaseFromContext finds the lease.
//
// The session refers only to the inner contexts, which do not refer to the lease. So a
// lease that the user has dropped can be collected. A context that the user derives from
// a leaseContext keeps the lease in memory, because package context registers the derived
// context with the inner context.
type leaseContext struct {
	context.Context
	lease *Lease
}

// leaseKey is the key of the innermost lease of a context.
type leaseKey struct{}

func (c leaseContext) Value(key any) any {
	switch key {
	case leaseKey{}:
		return c.lease
	case token.Key{}:
		return c.lease.last()
	}
	return c.Context.Value(key)
}

// LeaseFromContext returns the innermost lease of ctx.
func LeaseFromContext(ctx context.Context) (*Lease, bool) {
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	return l, ok
}

// endingWith returns a context that ends when under, a lease's context, or ctx ends. The
// end of under reaches it at once. The end of ctx reaches it within the time that it
// takes to start a goroutine. The context has the error and the cause of the context that
// ended first; at ctx's deadline, the cause is context.DeadlineExceeded. The cause is not
// wrapped in reason.Foreign, so that callers can compare it; the library itself only
// checks the causes of contexts that it has created.
//
// A user-defined context may end with context.DeadlineExceeded before its Deadline, or
// without one. Then the error is context.Canceled, and the cause has the reason.
func endingWith(under, ctx context.Context) (context.Context, context.CancelFunc) {
	stopTimer := func() {}
	deadline, hasTimer := ctx.Deadline()
	if hasTimer {
		under, stopTimer = context.WithDeadline(under, deadline)
	}
	under, end := context.WithCancelCause(under)
	stop := context.AfterFunc(ctx, func() {
		isDue := hasTimer && !time.Now().Before(deadline)
		if ctx.Err() != context.DeadlineExceeded || !isDue { // the timer ends the context at a deadline
			end(context.Cause(ctx))
		}
	})
	return under, func() {
		stop()
		end(nil)
		stopTimer()
	}
}

// AwaitDeadline returns false at once if ctx has no deadline that has passed. Otherwise
// AwaitDeadline waits briefly until ctx has ended, and returns true. Contexts derived under
// a lease have their own timers for the deadline, which may fire first. With AwaitDeadline,
// a caller that learns of the deadline finds that ctx has ended. A user-defined context may
// live on after its deadline; nothing can be done under a lease with such a context.
func AwaitDeadline(ctx context.Context) (passed bool) {
	deadline, ok := ctx.Deadline()
	if !ok || time.Now().Before(deadline) {
		return false
	}
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond): // contexts of the standard library end when their timer fires
	}
	return true
}
