package recipes_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

// Curator: #testReentrant. The lock is free when the last of its leases is released, in whatever order.
func TestReentryIsCounted(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		outer := acquire(t, ctx, m)
		middle := acquire(t, outer.Context(), m)
		inner := acquire(t, context.WithValue(middle.Context(), pending{}, 1), recipes.NewInterProcessMutex(c, path))
		try, err := m.TryAcquire(inner.Context())
		require.NoError(t, err)

		require.Equal(t, outer.Path(), inner.Path())
		require.Equal(t, outer.FencingToken(), inner.FencingToken())
		require.Len(t, w.waitNodes(t, path, 1), 1)

		require.NoError(t, outer.Release(ctx))
		require.NoError(t, middle.Release(ctx))
		require.NoError(t, try.Release(ctx))
		require.NoError(t, inner.Context().Err(), "a lease lives until it is released itself")
		w.waitNodes(t, path, 1)
		require.NoError(t, inner.Release(ctx))
		w.nothingLeft(t, path)
	})
}

// Curator: #testReentrant2Threads. Only the context of a lease re-enters.
func TestOthersDoNotReenter(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c1, _ := w.connect(t)
		c2, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c1, path)
		lease := acquire(t, ctx, m)
		nested := acquire(t, lease.Context(), m)

		_, err := m.TryAcquire(ctx)
		require.ErrorIs(t, err, recipes.ErrNotAcquired, "another goroutine of the same object")
		_, err = recipes.NewInterProcessMutex(c2, path).TryAcquire(lease.Context())
		require.ErrorIs(t, err, recipes.ErrNotAcquired, "another client")
		other := acquire(t, lease.Context(), recipes.NewInterProcessMutex(c1, path+"-other"))
		require.NotEqual(t, lease.Path(), other.Path(), "another lock")

		require.NoError(t, other.Release(ctx))
		require.NoError(t, nested.Release(ctx))
		require.NoError(t, lease.Release(ctx))
		w.nothingLeft(t, path)
	})
}

// A context that was made under a lease, but outlived it, is like any other.
func TestNoReentryAfterRelease(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		lease := acquire(t, ctx, m)
		require.NoError(t, lease.Release(ctx))

		_, err := m.Acquire(lease.Context())
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, recipes.ErrReleased)

		again := acquire(t, context.WithoutCancel(lease.Context()), m)
		require.NotEqual(t, lease.Path(), again.Path())
		require.NoError(t, again.Release(ctx))
	})
}

func TestFencingTokenIsTheNodesCzxidAndGrows(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		var last int64
		for i := range 4 {
			c, knife := w.connect(t)
			lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, path))
			_, stat, err := w.observer.Get(ctx, lease.Path())
			require.NoError(t, err)
			require.Equal(t, stat.Czxid, lease.FencingToken())
			require.Greater(t, lease.FencingToken(), last)
			last = lease.FencingToken()

			if i == 1 { // the next holder is in another session, after a loss
				knife.expire(t)
				<-lease.Context().Done()
			}
			lease.Release(ctx)
			w.waitNodes(t, path, 0)
			if i == 2 { // the parent is gone, and its sequence with it
				require.NoError(t, w.observer.Delete(ctx, path, framework.AnyVersion))
			}
		}
	})
}

func TestLeaseContextCarriesTheCallersValuesButNotItsEnd(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := path(t)
		c, _ := w.connect(t)
		type key struct{}
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "request 7"), time.Second)
		defer cancel()
		lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, path))
		<-ctx.Done()
		require.Equal(t, "request 7", lease.Context().Value(key{}))
		require.NoError(t, lease.Context().Err())
		_, hasDeadline := lease.Context().Deadline()
		require.False(t, hasDeadline)
		require.NoError(t, lease.Release(w.patience(t)))
	})
}

func TestUnderEndsWithTheLeaseAndWithTheContext(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := path(t)
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, path)
		lease := acquire(t, t.Context(), m)
		type key struct{}

		request, cancelRequest := context.WithCancelCause(context.WithValue(t.Context(), key{}, "request 7"))
		under, done := lease.Under(request)
		defer done()
		require.Equal(t, "request 7", under.Value(key{}))
		require.NoError(t, acquire(t, under, m).Release(t.Context()), "it re-enters")
		cancelRequest(errors.New("the customer went home"))
		<-under.Done()
		require.EqualError(t, context.Cause(under), "the customer went home")
		require.NoError(t, lease.Context().Err())

		request, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		under, done = lease.Under(request)
		defer done()
		deadline, ok := under.Deadline()
		require.True(t, ok)
		require.Equal(t, time.Now().Add(time.Second), deadline)
		<-under.Done()
		require.ErrorIs(t, under.Err(), context.DeadlineExceeded)

		under, done = lease.Under(t.Context())
		done()
		require.ErrorIs(t, under.Err(), context.Canceled)
		require.NoError(t, lease.Context().Err())

		under, done = lease.Under(t.Context())
		defer done()
		require.NoError(t, lease.Release(t.Context()))
		require.ErrorIs(t, context.Cause(under), recipes.ErrReleased, "at once, not soon")
	})
}

// Two locks are held under a context that ends with either, and re-enters both.
func TestUnderTwoLocks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := path(t)
		c, _ := w.connect(t)
		a, b := recipes.NewInterProcessMutex(c, path+"-a"), recipes.NewInterProcessMutex(c, path+"-b")
		leaseA := acquire(t, t.Context(), a)
		leaseB := acquire(t, leaseA.Context(), b)
		both, done := leaseB.Under(leaseA.Context())
		defer done()
		for _, m := range []*recipes.InterProcessMutex{a, b} {
			lease, err := m.TryAcquire(both)
			require.NoError(t, err)
			require.NoError(t, lease.Release(t.Context()))
		}
		require.NoError(t, leaseA.Release(t.Context()))
		<-both.Done()
		require.ErrorIs(t, context.Cause(both), recipes.ErrReleased)
		require.NoError(t, leaseB.Context().Err())
		require.NoError(t, leaseB.Release(t.Context()))
	})
}

// The holder has stopped when the server hears of the release.
func TestReleaseEndsTheContextBeforeItTellsTheServer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		lease := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, path(t)))
		under, done := lease.Under(t.Context())
		defer done()
		told := w.fake.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.Call(func(zktest.Request) {
			if lease.Context().Err() == nil || under.Err() == nil {
				t.Error("still working when the server is told")
			}
		})})
		require.NoError(t, lease.Release(t.Context()))
		require.Equal(t, 1, told.Hits())
	})
}

// A release that fails for one node has that node's error, and not a list of one.
func TestErrorOfAReleaseIsThatOfTheNode(t *testing.T) {
	for failures, wantPlain := range map[int]bool{1: true, 2: false} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			ctx, path := w.patience(t), path(t)
			c, _ := w.connect(t)
			lease, err := recipes.NewInterProcessSemaphore(c, path, 2).AcquireN(ctx, 2)
			require.NoError(t, err)
			w.fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: failures, Do: zktest.Fail(zktest.ErrNoAuth)})
			err = lease.Release(ctx)
			require.ErrorIs(t, err, zk.ErrNoAuth)
			_, plain := errors.Unwrap(err).(*framework.OpError)
			require.Equal(t, wantPlain, plain, "%v", err)
		})
	}
}
