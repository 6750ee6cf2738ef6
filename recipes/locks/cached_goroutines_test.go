package locks_test

import (
	"testing"
	"testing/synctest"

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
