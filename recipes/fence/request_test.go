package fence_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

var _ fence.Lease = (*locks.Lease)(nil)

// headerOf is the header of a request under a lease.
func headerOf(l fence.Lease) string { return fmt.Sprint(l.FencingToken(), " ", l.Path()) }

// Promise: a request that is made under the context of a lease carries its fencing token,
// also of a leadership, of several locks, and of a context that was derived.
func TestRequestUnderALeaseHasItsToken(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		ctx := w.Patience(t)
		a := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, "/locks/a"))
		b := locktest.Acquire(t, a.Context(), locks.NewInterProcessMutex(c, "/locks/b"))
		reader := locktest.Acquire(t, ctx, locks.NewInterProcessReadWriteLock(c, "/locks/rw").ReadLock())
		both := locktest.Acquire(t, ctx, locks.NewInterProcessMultiLock(
			locks.NewInterProcessMutex(c, "/locks/c"), locks.NewInterProcessMultiLock(locks.NewInterProcessMutex(c, "/locks/d"))))
		latch, err := leader.NewLatch(c, "/leader")
		require.NoError(t, err)
		leads, err := latch.WaitLeadership(ctx)
		require.NoError(t, err)
		derived, cancel := context.WithCancel(a.Context())
		defer cancel()
		inA, done := a.WithContext(b.Context())
		defer done()
		last := both.Leases()[1].Leases()[0]
		require.Equal(t, both.FencingToken(), last.FencingToken())

		for name, c := range map[string]struct {
			ctx  context.Context
			want fence.Lease
		}{
			"mutex": {a.Context(), a}, "innermost": {b.Context(), b}, "derived": {derived, a}, "outer": {inA, a},
			"reader": {reader.Context(), reader}, "several locks": {both.Context(), last}, "leader": {leads.Context(), leads},
		} {
			lease, ok := fence.FromContext(c.ctx)
			require.True(t, ok, name)
			require.Equal(t, headerOf(c.want), headerOf(lease), name)
			header, err := fence.Outgoing(c.ctx)
			require.NoError(t, err, name)
			require.Equal(t, headerOf(c.want), header, name)
		}
	})
}

// Promise: a service that is told the path of a lock admits the holders of that lock, of
// each kind that has one holder at a time.
func TestHoldersOfEachKindAreAdmitted(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		app, err := c.Namespace("/app")
		require.NoError(t, err)
		held := map[string]context.Context{
			"/locks/mutex":            locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(app, "/locks/mutex")).Context(),
			"/locks/ü, b":             locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(app, "/locks/ü, b")).Context(),
			"/locks/writer":           locktest.Acquire(t, w.Patience(t), locks.NewInterProcessReadWriteLock(app, "/locks/writer").WriteLock()).Context(),
			"/locks/semaphore/leases": locktest.Acquire(t, w.Patience(t), locks.NewInterProcessSemaphoreMutex(app, "/locks/semaphore")).Context(),
		}
		latch, err := leader.NewLatch(app, "/leader")
		require.NoError(t, err)
		leads, err := latch.WaitLeadership(w.Patience(t))
		require.NoError(t, err)
		held["/leader"] = leads.Context()
		for lock, ctx := range held {
			header, err := fence.Outgoing(ctx)
			require.NoError(t, err, lock)
			_, err = fence.Incoming(t.Context(), &fence.Guard{}, lock, []string{header})
			require.NoError(t, err, lock)
		}
	})
}

// Promise: a request without a lease has no fencing token, and a request under a lease
// that has ended is an error with the reason.
func TestRequestWithoutALeaseHasNoToken(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		header, err := fence.Outgoing(t.Context())
		require.NoError(t, err)
		require.Empty(t, header)

		c, _ := w.Connect(t)
		lease := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(c, "/lock"))
		require.NoError(t, lease.Release(t.Context()))
		header, err = fence.Outgoing(context.WithoutCancel(lease.Context()))
		require.ErrorIs(t, err, locks.ErrReleased)
		require.ErrorContains(t, err, "fence: the lease of /lock/_c_")
		require.Empty(t, header)
	})
}

// incoming is Incoming for a request whose only header is this.
func incoming(ctx context.Context, store fence.Store, header string) (context.Context, error) {
	return fence.Incoming(ctx, store, "/lock", []string{header})
}

// Promise: a token is admitted if it is the largest of its resource, or as large. A
// request without a token, with a malformed one, or with the token of another lock is
// refused.
func TestIncoming(t *testing.T) {
	var guard fence.Guard
	type step struct{ header, reason, text string }
	for _, s := range []step{
		{"7 /lock/a", "", ""},
		{"7 /lock/a", "", ""},
		{"9 /lock/b%20c", "", ""},
		{"8 /lock/x", "stale", "stale fencing token: 8 of /lock/x, after 9 of /lock/b c"},
		{"8 /lock/x%0Ay", "malformed", `fencing token: "8 /lock/x%0Ay" is not a positive number, a space, and the escaped path of a node`},
		{"10 /other/a", "other_lock", "fencing token of /other/a, which does not hold the lock /lock"},
		{"10 /lock/below/a", "other_lock", "fencing token of /lock/below/a, which does not hold the lock /lock"},
		{"10 /lock", "other_lock", "fencing token of /lock, which does not hold the lock /lock"},
		{"", "malformed", `fencing token: "" is not a positive number, a space, and the escaped path of a node`},
		{"10", "malformed", `fencing token: "10" is not a positive number, a space, and the escaped path of a node`},
		{"9 /lock/b%20c", "", ""},
	} {
		ctx, err := incoming(t.Context(), &guard, s.header)
		require.Equal(t, s.reason, fence.Reason(err), s.header)
		require.Equal(t, s.reason == "stale", errors.Is(err, fence.ErrStale))
		if s.reason != "" {
			require.EqualError(t, err, s.text)
			continue
		}
		require.NoError(t, err)
		header, err := fence.Outgoing(ctx)
		require.NoError(t, err)
		require.Equal(t, s.header, header, "the token is forwarded")
	}
	for reason, headers := range map[string][]string{"missing": nil, "malformed": {"10 /lock/a", "10 /lock/a"}} {
		_, err := fence.Incoming(t.Context(), &guard, "/lock", headers)
		require.Equal(t, reason, fence.Reason(err))
	}
	_, err := fence.Incoming(t.Context(), &guard, "/other", []string{"1 /other/a"})
	require.NoError(t, err, "another lock has tokens of its own")
}

// storeFunc is a Store whose Raise is the function.
type storeFunc func(ctx context.Context, resource string, lease fence.Lease) error

func (f storeFunc) Raise(ctx context.Context, resource string, lease fence.Lease) error {
	return f(ctx, resource, lease)
}

func TestErrorOfTheStoreIsNoReason(t *testing.T) {
	broken := errors.New("broken")
	_, err := incoming(t.Context(), storeFunc(func(context.Context, string, fence.Lease) error { return broken }), "7 /lock/a")
	require.ErrorIs(t, err, broken)
	require.Empty(t, fence.Reason(err))
	require.Empty(t, fence.Reason(nil))
}

// A lease that the process acquires while it serves a request is the innermost. The
// lease of a request ends with the request, and is not one of this process.
func TestLeaseOfARequest(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		leads := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(c, "/leads"))
		request, end := context.WithCancel(leads.Context()) // as a BaseContext of a server is
		ctx, err := incoming(request, &fence.Guard{}, "7 /lock/a")
		require.NoError(t, err)
		lease, ok := fence.FromContext(ctx)
		require.True(t, ok)
		require.Equal(t, "7 /lock/a", headerOf(lease))
		same, ok := fence.FromContext(lease.Context())
		require.True(t, ok)
		require.Equal(t, "7 /lock/a", headerOf(same), "the context of the lease is under the lease")
		own, ok := locks.LeaseFromContext(ctx)
		require.True(t, ok)
		require.Equal(t, leads.Path(), own.Path())

		inner := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, "/inner"))
		header, err := fence.Outgoing(inner.Context())
		require.NoError(t, err)
		require.Equal(t, headerOf(inner), header)

		end()
		_, err = fence.Outgoing(context.WithoutCancel(ctx))
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestStaleErrorAsJSON(t *testing.T) {
	stale := &fence.StaleError{Token: math.MaxInt64 - 1, Owner: "/lock/a", NewestToken: math.MaxInt64, NewestOwner: "/lock/b"}
	text, err := json.Marshal(stale)
	require.NoError(t, err)
	require.JSONEq(t, `{"token": "9223372036854775806", "owner": "/lock/a", "newestToken": "9223372036854775807", "newestOwner": "/lock/b"}`, string(text))
	var again fence.StaleError
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, stale, &again)
	require.EqualError(t, &fence.StaleError{Token: 7, Owner: "/lock/a"}, "stale fencing token: 7 of /lock/a")
}
