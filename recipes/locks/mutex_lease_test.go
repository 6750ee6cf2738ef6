package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Curator tests this in TestInterProcessMutexBase#testReentrant. The lock is
// free when the last of its leases is released, in whatever order they are
// released.
func TestReentryIsCounted(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		outer := locktest.Acquire(t, ctx, m)
		middle := locktest.Acquire(t, outer.Context(), m)
		inner := locktest.Acquire(t, context.WithValue(middle.Context(), anyKey{}, 1), locks.NewInterProcessMutex(c, path))
		try, err := m.TryAcquire(inner.Context())
		require.NoError(t, err)

		require.Equal(t, outer.Path(), inner.Path())
		require.Equal(t, outer.FencingToken(), inner.FencingToken())
		require.Len(t, w.WaitNodes(t, path, 1), 1)

		require.NoError(t, outer.Release(ctx))
		require.NoError(t, middle.Release(ctx))
		require.NoError(t, try.Release(ctx))
		require.NoError(t, inner.Context().Err(), "a lease lives until it is released itself")
		w.WaitNodes(t, path, 1)
		require.NoError(t, inner.Release(ctx))
		w.NothingLeft(t, path)
	})
}

// Curator tests this in TestInterProcessMutexBase#testReentrant2Threads. Only
// the context of a lease re-enters.
func TestOthersDoNotReenter(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c1, _ := w.Connect(t)
		c2, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c1, path)
		lease := locktest.Acquire(t, ctx, m)
		nested := locktest.Acquire(t, lease.Context(), m)

		_, err := m.TryAcquire(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired, "another goroutine of the same object")
		_, err = locks.NewInterProcessMutex(c2, path).TryAcquire(lease.Context())
		require.ErrorIs(t, err, locks.ErrNotAcquired, "another client")
		other := locktest.Acquire(t, lease.Context(), locks.NewInterProcessMutex(c1, path+"-other"))
		require.NotEqual(t, lease.Path(), other.Path(), "another lock")

		require.NoError(t, other.Release(ctx))
		require.NoError(t, nested.Release(ctx))
		require.NoError(t, lease.Release(ctx))
		w.NothingLeft(t, path)
	})
}

// A context that was made under a lease, but outlived it, is a context like
// any other.
func TestNoReentryAfterRelease(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		lease := locktest.Acquire(t, ctx, m)
		require.NoError(t, lease.Release(ctx))

		_, err := m.Acquire(lease.Context())
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, locks.ErrReleased)

		again := locktest.Acquire(t, context.WithoutCancel(lease.Context()), m)
		require.NotEqual(t, lease.Path(), again.Path())
		require.NoError(t, again.Release(ctx))
	})
}

// Promise: Fencing tokens grow from holder to holder.
func TestFencingTokenIsTheNodesCzxidAndGrows(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		var last int64
		for i := range 4 {
			c, network := w.Connect(t)
			lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
			_, stat, err := w.Observer.Get(ctx, lease.Path())
			require.NoError(t, err)
			require.Equal(t, stat.Czxid, lease.FencingToken())
			require.Greater(t, lease.FencingToken(), last)
			last = lease.FencingToken()

			if i == 1 { // the next holder is in another session, after a loss
				network.Expire(t)
				<-lease.Context().Done()
			}
			lease.Release(ctx)
			w.WaitNodes(t, path, 0)
			if i == 2 { // the sequence goes with its parent
				require.NoError(t, w.Observer.Delete(ctx, path, framework.AnyVersion))
			}
		}
	})
}

func TestLeaseContextCarriesTheCallersValuesButNotItsEnd(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, _ := w.Connect(t)
		type key struct{}
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "request 7"), time.Second)
		defer cancel()
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
		<-ctx.Done()
		require.Equal(t, "request 7", lease.Context().Value(key{}))
		require.NoError(t, lease.Context().Err())
		_, hasDeadline := lease.Context().Deadline()
		require.False(t, hasDeadline)
		require.NoError(t, lease.Release(w.Patience(t)))
	})
}

func TestWithContextEndsWithTheLeaseAndWithItsParent(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		lease := locktest.Acquire(t, t.Context(), m)
		type key struct{}

		request, cancelRequest := context.WithCancelCause(context.WithValue(t.Context(), key{}, "request 7"))
		under, done := lease.WithContext(request)
		defer done()
		require.Equal(t, "request 7", under.Value(key{}))
		require.NoError(t, locktest.Acquire(t, under, m).Release(t.Context()), "it re-enters")
		cancelRequest(errors.New("the customer went home"))
		<-under.Done()
		require.EqualError(t, context.Cause(under), "the customer went home")
		require.NoError(t, lease.Context().Err())

		request, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		under, done = lease.WithContext(request)
		defer done()
		deadline, ok := under.Deadline()
		require.True(t, ok)
		require.Equal(t, time.Now().Add(time.Second), deadline)
		<-under.Done()
		require.ErrorIs(t, under.Err(), context.DeadlineExceeded)

		under, done = lease.WithContext(t.Context())
		done()
		require.ErrorIs(t, under.Err(), context.Canceled)
		require.NoError(t, lease.Context().Err())

		under, done = lease.WithContext(t.Context())
		defer done()
		require.NoError(t, lease.Release(t.Context()))
		require.ErrorIs(t, context.Cause(under), locks.ErrReleased, "at once, not soon")
	})
}

// A context under two locks ends with either of them, and re-enters both.
func TestWithContextOfTwoLocks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, _ := w.Connect(t)
		a, b := locks.NewInterProcessMutex(c, path+"-a"), locks.NewInterProcessMutex(c, path+"-b")
		leaseA := locktest.Acquire(t, t.Context(), a)
		leaseB := locktest.Acquire(t, leaseA.Context(), b)
		both, done := leaseB.WithContext(leaseA.Context())
		defer done()
		for _, m := range []*locks.InterProcessMutex{a, b} {
			lease, err := m.TryAcquire(both)
			require.NoError(t, err)
			require.NoError(t, lease.Release(t.Context()))
		}
		require.NoError(t, leaseA.Release(t.Context()))
		<-both.Done()
		require.ErrorIs(t, context.Cause(both), locks.ErrReleased)
		require.NoError(t, leaseB.Context().Err())
		require.NoError(t, leaseB.Release(t.Context()))
	})
}

// The holder's context has ended when the server receives the release.
//
// Promise: A release ends the lease's context before the node is deleted.
func TestReleaseEndsTheContextBeforeItTellsTheServer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		lease := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, recipetest.Path(t)))
		under, done := lease.WithContext(t.Context())
		defer done()
		told := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.Call(func(zktest.Request) {
			if lease.Context().Err() == nil || under.Err() == nil {
				t.Error("still working when the server is told")
			}
		})})
		require.NoError(t, lease.Release(t.Context()))
		require.Equal(t, 1, told.Hits())
	})
}
