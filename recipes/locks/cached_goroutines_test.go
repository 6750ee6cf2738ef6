package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Goroutines that wait get the lock in the order of their arrival, as long as
// nobody else wants it.
func TestCachedLockGoesToGoroutinesThatWait(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		first := locktest.Acquire(t, ctx, cachedMutex(c, path))
		var waiting []*locktest.Pending
		for range 50 {
			waiting = append(waiting, locktest.AcquireLater(ctx, cachedMutex(c, path)))
			synctest.Wait()
		}
		w.Fake.ClearRequests()
		require.NoError(t, first.Release(ctx))
		for _, p := range waiting[:40] {
			lease := p.Wait(t)
			require.Equal(t, first.FencingToken(), lease.FencingToken())
			require.NoError(t, lease.Release(ctx))
		}
		last := waiting[40].Wait(t)
		require.Equal(t, []zktest.Op{zktest.OpGetChildren2}, w.Requests())
		theirs := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(other, path))
		synctest.Wait()
		require.NoError(t, last.Release(ctx))
		require.NoError(t, theirs.Wait(t).Release(ctx))
		for _, p := range waiting[41:] {
			require.NoError(t, p.Wait(t).Release(ctx))
		}
		w.NothingLeft(t, path)
	})
}

// A waiter that gives up when it gets the lock makes it idle.
func TestCachedLockOfAWaiterThatGivesUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := cachedMutex(c, path)
		for range 100 {
			lease := locktest.Acquire(t, ctx, m)
			leaving, leave := context.WithCancel(ctx)
			waiting := locktest.AcquireLater(leaving, m)
			synctest.Wait()
			go leave()
			require.NoError(t, lease.Release(ctx))
			<-waiting.Done
			if waiting.Err == nil {
				require.NoError(t, waiting.Lease.Release(ctx))
			}
		}
		require.Len(t, w.Nodes(t, path), 1)
		w.NothingLeft(t, path)
	})
}

// With both options, goroutines pass the lock on within the bounds of the
// hand-over although somebody else waits. The lock is kept if nobody does.
func TestCachedLockWithLocalHandOver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		m := cachedMutex(c, path, locks.WithLocalHandOver(2, time.Hour))
		ours := queueUp(ctx, m, 4)
		theirs := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(other, path))
		synctest.Wait()
		for _, p := range ours[:3] {
			lease := p.Wait(t)
			require.False(t, theirs.IsOver())
			require.NoError(t, lease.Release(ctx))
		}
		require.NoError(t, theirs.Wait(t).Release(ctx))
		require.NoError(t, ours[3].Wait(t).Release(ctx))
		w.idle(t, ctx, m)
		w.Fake.ClearRequests()
		once(t, ctx, m)
		require.Empty(t, w.Requests())
		w.NothingLeft(t, path)
	})
}
