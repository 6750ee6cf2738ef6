package locks_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
)

// Waiters that give up together cost the server nothing. Each learns how many
// contenders are ahead of it.
func TestTenThousandWaitersGiveUpTogether(t *testing.T) {
	thorough.MuchWork(t)
	const waiters = 10000
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(other, path))
		next := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(c, path))
		w.WaitNodes(t, path, 2)
		synctest.Wait()
		leaving, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		w.Fake.ClearRequests()
		errs := giveUpTogether(c, path, leaving, waiters)
		for _, err := range errs {
			var refused *locks.NotAcquiredError
			require.ErrorAs(t, err, &refused)
			require.GreaterOrEqual(t, refused.Ahead, 2)
			require.Less(t, refused.Ahead, 2+waiters)
		}
		require.Empty(t, w.Requests())
		require.NoError(t, lease.Release(ctx))
		require.NoError(t, next.Wait(t).Release(ctx))
		w.NothingLeft(t, path)
	})
}

// giveUpTogether waits for a lock, with an object for each waiter, until ctx
// ends. It returns the errors.
func giveUpTogether(c *framework.Client, path string, ctx context.Context, waiters int) []error {
	errs := make([]error, waiters)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = locks.NewInterProcessMutex(c, path).Acquire(ctx) })
	}
	all.Wait()
	return errs
}
