package seat

import (
	"context"
	"time"

	"github.com/gocurator/curator/recipes/internal/token"
)

// merged is a context that ends with one context and has the values of another.
// After those, it has the values of the first. The values must come from
// context.WithoutCancel. That also hides the value by which package context
// finds a context's parent, so that it finds the right one.
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

// leased is what merged is to a lease's life, and has the hold as the value of its key.
// A life has no values but that by which package context finds a context's parent.
// That comes first, so that it need not be hidden.
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

// underHolds is a context under several holds: it has each as the value of its
// key.
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
// It lies outside of the contexts to which the session has references, and
// these do not refer to the lease. So a lease that the user has dropped can be
// collected. Contexts that the user derives from it keep the
// lease as long as they live, since package context registers them with the
// inner context.
type leaseContext struct {
	context.Context
	lease *Lease
}

// leaseKey finds the innermost lease that a context is under.
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

// LeaseFromContext returns the innermost lease that ctx is under.
func LeaseFromContext(ctx context.Context) (*Lease, bool) {
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	return l, ok
}

// endingWith returns a context that ends with either of these. The end of
// under, a lease's context, reaches it at once. The end of ctx reaches it
// within the time that it takes to start a goroutine. The context has the error
// and the cause of the context that has ended; at ctx's deadline, the cause is
// context.DeadlineExceeded. The cause is as it is, for callers that compare it, and
// not reason.Foreign: the library decides on the causes of its own contexts only.
//
// A context of the user's own making may end with context.DeadlineExceeded before
// its Deadline, or without one. Then the error is context.Canceled, and the cause
// says why.
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

// AwaitDeadline waits until ctx has ended, if its deadline has passed, and reports
// whether that has passed. What ends with ctx under a lease has a timer of its own,
// which may be the first to fire. A caller who learns of the deadline finds that ctx
// has ended, unless it is a context of the user's own making that outlives its
// deadline: nothing can be done under a lease with that any more.
func AwaitDeadline(ctx context.Context) (passed bool) {
	deadline, ok := ctx.Deadline()
	if !ok || time.Now().Before(deadline) {
		return false
	}
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond): // the contexts of the standard library end when their timer fires
	}
	return true
}
