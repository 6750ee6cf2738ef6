package locks_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// A handler makes an object for each of ten thousand requests that come at
// once. The server sees two of these objects at a time.
func TestTenThousandAcquiresOfOnePathWithAnObjectEach(t *testing.T) {
	thorough.MuchWork(t)
	for name, o := range objects {
		t.Run(name, func(t *testing.T) {
			n := 10000
			switch {
			case !thorough.Full():
				n = 500
			case name != "mutex":
				n = 2000
			}
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				session := c.SessionID()
				bystander := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, "/bystander"))
				first := hold(t, ctx, o.make(c, path))
				synctest.Wait()
				w.Fake.ClearRequests()
				most := watchLength(w.Fake, path+o.queue)

				goroutines := runtime.NumGoroutine()
				var all sync.WaitGroup
				for range n {
					all.Go(func() { cycle(t, ctx, o.make(c, path)) })
				}
				synctest.Wait()
				require.LessOrEqual(t, runtime.NumGoroutine()-goroutines, n+10)
				require.Less(t, len(w.Requests()), 10)
				require.NoError(t, first.Release(ctx))
				all.Wait()

				require.LessOrEqual(t, most.Load(), int64(3), "the holder, the next, and one whose deletion is on its way")
				require.Less(t, w.Fake.CountRequests(zktest.OpAny), 10*n, "some for each acquire")
				transactions := 0
				if strings.HasPrefix(name, "semaphore") { // each of its acquires makes one
					transactions = n
				}
				require.Equal(t, transactions, w.Fake.CountRequests(zktest.OpMulti))
				require.Equal(t, session, c.SessionID())
				require.NoError(t, bystander.Context().Err())
				require.NoError(t, bystander.Release(ctx))
				w.NothingLeft(t, path+o.queue)
			})
		})
	}
}

// cycle acquires and releases, on a goroutine of its own.
func cycle(t *testing.T, ctx context.Context, l locks.Locker) {
	lease, err := l.Acquire(ctx)
	if err == nil {
		err = lease.Release(ctx)
	}
	if err != nil {
		t.Error(err)
	}
}

// watchLength follows the largest number of contenders in a queue.
func watchLength(srv *zktest.Server, queue string) *atomic.Int64 {
	most := new(atomic.Int64)
	srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: queue + "/*", Times: -1, Do: zktest.CallAfter(func(zktest.Request) {
		most.Store(max(most.Load(), int64(len(srv.Children(queue)))))
	})})
	return most
}

func readLock(c *framework.Client, path string) locks.Locker {
	return locks.NewInterProcessReadWriteLock(c, path).ReadLock()
}
