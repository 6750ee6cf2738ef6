package locks_test

import (
	"context"
	"fmt"
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
	"github.com/gocurator/curator/testing/zktest"
)

// Waiters that give up together cost the server nothing. Each learns how many
// contenders are ahead of it.
func TestTenThousandWaitersGiveUpTogether(t *testing.T) {
	thorough.MuchWork(t)
	const waiters = 10000
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
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

// BenchmarkGivingUpTogether measures how late the last of many waiters returns
// when their contexts end at the same moment.
func BenchmarkGivingUpTogether(b *testing.B) {
	for _, n := range []int{10000, 20000, 40000} {
		b.Run(fmt.Sprint("waiters=", n), func(b *testing.B) {
			srv := zktest.Start(b)
			c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
			require.NoError(b, err)
			defer c.Close()
			lease := locktest.Acquire(b, b.Context(), locks.NewInterProcessMutex(c, "/m"))
			m := locks.NewInterProcessMutex(c, "/m")
			var late time.Duration
			for b.Loop() {
				ctx, cancel := context.WithCancel(b.Context())
				var all, begun sync.WaitGroup
				for range n {
					begun.Add(1)
					all.Go(func() {
						begun.Done()
						m.Acquire(ctx)
					})
				}
				begun.Wait()
				time.Sleep(100 * time.Millisecond) // by now all acquires wait
				start := time.Now()
				cancel()
				all.Wait()
				late += time.Since(start)
			}
			b.ReportMetric(0, "ns/op") // ns/op would include the time of the setup
			b.ReportMetric(float64(late.Milliseconds())/float64(b.N), "ms-late")
			require.NoError(b, lease.Release(b.Context()))
		})
	}
}
