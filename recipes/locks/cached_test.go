package locks_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// cachedFor is for how long the locks of these tests are kept, unless they say
// otherwise.
const cachedFor = time.Minute

func cachedMutex(c *framework.Client, path string, opts ...locks.MutexOption) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(c, path, append(opts, idleFor(1000, cachedFor))...)
}

// once acquires and releases a lock, and returns the lease.
func once(t *testing.T, ctx context.Context, l locks.Locker) *locks.Lease {
	t.Helper()
	lease := locktest.Acquire(t, ctx, l)
	require.NoError(t, lease.Context().Err())
	require.NoError(t, lease.Release(ctx))
	require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
	return lease
}

// idle makes a lock idle, and returns its node.
func (w *world) idle(t *testing.T, ctx context.Context, l locks.Locker) (node string) {
	t.Helper()
	node = once(t, ctx, l).Path()
	synctest.Wait()
	require.True(t, w.exists(node), "the node stays")
	return node
}

func (w *world) exists(node string) bool {
	_, ok := w.Fake.Node(node)
	return ok
}

func TestCachedLockCostsNoRequest(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		require.NoError(t, w.Fake.Create(path, nil))
		c, _ := w.Connect(t)
		w.Fake.ClearRequests()
		first := once(t, ctx, cachedMutex(c, path))
		require.Equal(t, []zktest.Op{zktest.OpCreate, zkinside.OpGetChildren2, zkinside.OpGetChildren2}, w.Requests())
		w.Fake.ClearRequests()
		for range 100 {
			again := once(t, ctx, cachedMutex(c, path))
			require.Equal(t, first.FencingToken(), again.FencingToken())
		}
		tried, err := cachedMutex(c, path).TryAcquire(ctx)
		require.NoError(t, err)
		require.NoError(t, tried.Release(ctx))
		require.Empty(t, w.Requests())

		time.Sleep(cachedFor - 1)
		require.True(t, w.exists(first.Path()))
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.False(t, w.exists(first.Path()))
		require.Equal(t, []zktest.Op{zktest.OpGetData, zktest.OpDelete}, w.Requests(), "a watch on the node, after a second")
		w.NothingLeft(t, path)
	})
}

// The locks that come when there are enough are not kept.
func TestIdleLocksOfAProcessAreBounded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		const most = 1000
		for range 2 { // the places are free again when the locks have gone
			for i := range most + 2 {
				node := once(t, ctx, cachedMutex(c, fmt.Sprint(path, "/", i))).Path()
				require.Equal(t, i < most, w.exists(node), "%d", i)
			}
			once(t, ctx, cachedMutex(c, path+"/0")) // it is one of them already
			require.Len(t, zkinside.Of(w.Fake).Ephemerals(c.SessionID()), most)
			time.Sleep(cachedFor)
			w.NoWatches(t)
			require.Empty(t, zkinside.Of(w.Fake).Ephemerals(c.SessionID()))
		}
	})
}

// An object whose nodes would be others is a contender as everybody else is.
func TestOtherObjectsGetACachedLock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		for i, m := range []*locks.InterProcessMutex{
			cachedMutex(c, path+"/0", locks.WithNodeData([]byte("data"))),
			cachedMutex(c, path+"/1", locks.WithoutIdentity()),
			cachedMutex(c, path+"/2", locks.WithRevocation()),
		} {
			node := w.idle(t, ctx, cachedMutex(c, fmt.Sprint(path, "/", i)))
			start := time.Now()
			lease := locktest.Acquire(t, ctx, m)
			require.Zero(t, time.Since(start))
			require.False(t, w.exists(node), "%d", i)
			require.NoError(t, lease.Release(ctx))
			once(t, ctx, m)
			time.Sleep(cachedFor)
			w.NothingLeft(t, fmt.Sprint(path, "/", i))
		}
	})
}

// An object whose nodes would be the same takes a cached lock over. Its own options say
// what its release does.
func TestObjectWithTheSameNodesTakesACachedLockOver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		for i, tc := range []struct {
			of    *locks.InterProcessMutex
			keeps bool
		}{
			{locks.NewInterProcessMutex(c, path+"/0"), false},
			{cachedMutex(c, path+"/1"), true},
			{locks.NewInterProcessMutex(c, path+"/2", locks.WithReleasePolicy(locks.ReleasePolicy{
				MaxReuses: 1000, HandOver: time.Hour, Idle: cachedFor,
			})), true},
		} {
			node := w.idle(t, ctx, cachedMutex(c, fmt.Sprint(path, "/", i)))
			w.Fake.ClearRequests()
			lease := locktest.Acquire(t, ctx, tc.of)
			require.Empty(t, w.Requests())
			require.True(t, w.exists(node), "%d", i)
			require.NoError(t, lease.Release(ctx))
			synctest.Wait()
			require.Equal(t, tc.keeps, w.exists(node), "%d", i)
			time.Sleep(cachedFor)
			w.NothingLeft(t, fmt.Sprint(path, "/", i))
		}
	})
}

// Both hold the lock by the same node, but not one in the other's work.
//
// Promise: An acquire under a released lease does not re-enter the lock of the next holder.
func TestEarlierLeaseOfACachedLockDoesNotReenter(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := cachedMutex(c, path)
		earlier := context.WithoutCancel(once(t, ctx, m).Context())
		lease := locktest.Acquire(t, ctx, m)
		_, err := m.TryAcquire(earlier)
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		waiting := locktest.AcquireLater(earlier, m)
		synctest.Wait()
		require.False(t, waiting.IsOver())
		again := locktest.Acquire(t, lease.Context(), m)
		require.NoError(t, again.Release(ctx))
		require.NoError(t, lease.Release(ctx))
		next := waiting.Wait(t)
		require.Equal(t, lease.Path(), next.Path())
		require.NoError(t, next.Release(ctx))
		w.NothingLeft(t, path)
	})
}
