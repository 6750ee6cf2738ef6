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
)

// joinTime is for how long readers join the node of their client after a listing.
const joinTime = 100 * time.Millisecond

// takeAll begins n acquires.
func takeAll(ctx context.Context, n int, l locks.Locker) (all []*locktest.Pending) {
	for range n {
		all = append(all, take(ctx, l))
	}
	synctest.Wait()
	return all
}

// releaseAll releases what takeAll has acquired.
func releaseAll(t *testing.T, ctx context.Context, all []*locktest.Pending) {
	t.Helper()
	for _, p := range all {
		require.NoError(t, p.Wait(t).Release(ctx))
	}
}

// Two goroutines of a client give up at the same time. The third keeps the place that
// their client has in the queue.
//
// Promise: A goroutine that gives up leaves its client's place to the next one.
func TestWaitersThatGiveUpTogetherLeaveTheirPlace(t *testing.T) {
	for range 20 {
		inVirtualTime(t, func(t *testing.T, w *world) {
			ctx, path := w.Patience(t), recipetest.Path(t)
			c, _ := w.Connect(t)
			other, _ := w.Connect(t)
			holder := hold(t, ctx, locks.NewInterProcessMutex(other, path))
			going, cancel := context.WithCancel(ctx)
			leaving := takeAll(going, 5, locks.NewInterProcessMutex(c, path))
			staying := take(ctx, locks.NewInterProcessMutex(c, path))
			synctest.Wait()
			third, _ := w.Connect(t)
			last := take(ctx, locks.NewInterProcessMutex(third, path))
			synctest.Wait()
			cancel()
			for _, p := range leaving {
				<-p.Done
				require.ErrorIs(t, p.Err, context.Canceled)
			}
			synctest.Wait()
			require.NoError(t, holder.Release(ctx))
			lease := staying.Wait(t)
			require.False(t, last.IsOver())
			require.NoError(t, lease.Release(ctx))
			require.NoError(t, last.Wait(t).Release(ctx))
			w.NothingLeft(t, path)
		})
	}
}
