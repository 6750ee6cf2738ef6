package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Two goroutines of one client want a lock, and another client deletes the node of
// the first one, which does not watch it yet. The second gets the lock only when the
// first one's context has ended, whatever objects the two use.
func TestTwoGoroutinesOfOneClientBehindADeletion(t *testing.T) {
	handOver := func(c *framework.Client) locks.Locker {
		return locks.NewInterProcessMutex(c, "/l", handingOver(2, time.Minute))
	}
	cachedReader := func(c *framework.Client) locks.Locker {
		return locks.NewInterProcessReadWriteLock(c, "/l", idleFor(9, time.Minute)).ReadLock()
	}
	for name, who := range map[string]struct {
		first, second func(*framework.Client) locks.Locker
	}{
		"mutex": {mutexAt, mutexAt}, "hand-over": {handOver, handOver},
		"hand-over, then mutex": {handOver, mutexAt}, "mutex, then hand-over": {mutexAt, handOver},
		"writers": {writerAt, writerAt}, "writer, then reader": {writerAt, readerAt}, "reader, then writer": {readerAt, writerAt},
		"shared reader, then writer": {cachedReader, writerAt}, "writer, then shared reader": {writerAt, cachedReader},
	} {
		for _, when := range []string{"while the second waits", "before the second comes"} {
			t.Run(name+", "+when, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					c, _ := w.Connect(t)
					first := hold(t, t.Context(), who.first(c))
					var pending *locktest.Pending
					if when == "while the second waits" {
						pending = take(t.Context(), who.second(c))
						time.Sleep(100 * time.Millisecond)
						require.False(t, pending.IsOver())
					}
					require.NoError(t, w.Fake.Delete(first.Path()))
					if when != "while the second waits" {
						pending = take(t.Context(), who.second(c))
					}
					second := pending.Wait(t)
					require.ErrorIs(t, context.Cause(first.Context()), locks.ErrNodeDeleted)
					require.NoError(t, second.Context().Err())
					require.ErrorIs(t, first.Release(t.Context()), locks.ErrNodeDeleted)
					require.NoError(t, second.Release(t.Context()))
				})
			})
		}
	}
}

// A long holder watches its own node. The watch ends with the node, without a request.
// Data written to the node does not end the lease.
func TestLongHolderLeavesNoWatch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, network := w.Connect(t)
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
		<-time.After(2 * time.Second)
		require.Len(t, w.Fake.Watches(), 1)
		for range 3 {
			require.NoError(t, w.Fake.Set(lease.Path(), []byte("hello")))
			synctest.Wait()
			require.Len(t, w.Fake.Watches(), 1)
		}
		network.Cut()
		require.NoError(t, c.WaitConnected(ctx))
		<-time.After(time.Second)
		require.NoError(t, lease.Context().Err())

		w.Fake.ClearRequests()
		require.NoError(t, lease.Release(ctx))
		synctest.Wait()
		require.Equal(t, []zktest.Op{zktest.OpDelete}, w.Requests())
		w.NothingLeft(t, path)
	})
}
