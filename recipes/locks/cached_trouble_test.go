package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// Promise: A release without a connection caches no lock.
func TestReleaseWithoutAConnectionKeepsNoLock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, network := w.Connect(t)
		m := cachedMutex(c, path)
		node := w.idle(t, ctx, m)
		lease := locktest.Acquire(t, ctx, m)
		network.Refuse(true)
		network.Cut()
		synctest.Wait()
		require.NoError(t, lease.Release(ctx))
		network.Refuse(false)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.False(t, w.exists(node))
		w.NothingLeft(t, path)
	})
}

// A lock may be taken over in an outage, as long as the session lives.
func TestIdleLockSurvivesAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, network := w.Connect(t)
		m := cachedMutex(c, path)
		node := w.idle(t, ctx, m)
		network.Refuse(true)
		network.Cut()
		time.Sleep(time.Second)
		lease := locktest.Acquire(t, ctx, m)
		require.Equal(t, node, lease.Path())
		network.Refuse(false)
		time.Sleep(5 * time.Second)
		require.NoError(t, lease.Context().Err())
		require.NoError(t, lease.Release(ctx))
		require.True(t, w.exists(node), "the watch was set again")
		w.NothingLeft(t, path)
	})
}

// The servers refuse to set the watch again after a reconnect.
func TestNoIdleLockIsKeptWithoutAWatch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, network := w.Connect(t)
		node := w.idle(t, ctx, cachedMutex(c, path))
		refused := w.Fake.Inject(zktest.Rule{
			Op: zkinside.OpSetWatches, Session: c.SessionID(), Times: -1, Do: zktest.Fail(zkinside.ErrThrottled),
		})
		network.Cut()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Positive(t, refused.Hits())
		require.False(t, w.exists(node))
		w.NothingLeft(t, path)
	})
}

// If the look at the queue fails, there is no watch, and the node goes.
func TestLockThatCannotBeWatchedIsNotKept(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		lease := locktest.Acquire(t, ctx, cachedMutex(c, path))
		w.Fake.Inject(zktest.Rule{Op: zkinside.OpGetChildren2, Session: c.SessionID(), Do: zktest.Fail(zktest.ErrNoAuth)})
		require.NoError(t, lease.Release(ctx))
		require.False(t, w.exists(lease.Path()))
		w.NothingLeft(t, path)
	})
}
