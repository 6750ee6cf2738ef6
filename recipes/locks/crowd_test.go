package locks_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
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
				require.EqualValues(t, 1, sessionNumber(t, c))
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

// sessionNumber returns how many sessions a client has had.
func sessionNumber(t testing.TB, c *framework.Client) uint64 {
	t.Helper()
	_, err := c.Session(t.Context())
	require.NoError(t, err)
	return framework.Extend(c).Status().Session.Epoch
}

// The session is lost while ten thousand acquires wait. In the next session
// they queue at the server two at a time.
func TestTenThousandWaitersOutliveTheirSession(t *testing.T) {
	thorough.MuchWork(t)
	n := thorough.Size(10000, 2000)
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		first := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
		most := watchLength(w.Fake, path)
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				if lease, err := locks.NewInterProcessMutex(c, path).Acquire(ctx); err != nil {
					t.Error(err)
				} else {
					lease.Release(ctx)
				}
			})
		}
		synctest.Wait()
		for range 3 {
			w.Fake.Session(c.SessionID()).Expire()
			time.Sleep(time.Second)
		}
		require.Error(t, first.Context().Err())
		all.Wait()
		require.LessOrEqual(t, most.Load(), int64(4), "two of a session that is over, and two of the next")
		require.LessOrEqual(t, sessionNumber(t, c), uint64(4))
		w.NothingLeft(t, path)
	})
}

// The connection is lost while all acquires create their nodes. They find the
// nodes with a few requests, and no acquire queues twice.
func TestReadersWhoseAnswersAreLostQueueOnce(t *testing.T) {
	n := thorough.Size(500, 200)
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		first := hold(t, ctx, locks.NewInterProcessReadWriteLock(c, path).WriteLock())
		w.Fake.ClearRequests()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DelayReply(time.Second)})
		lists := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren2, Times: -1, Do: zktest.DelayReply(50 * time.Millisecond)})
		time.AfterFunc(500*time.Millisecond, w.Fake.CutAll)
		var all sync.WaitGroup
		for range n {
			all.Go(func() { cycle(t, ctx, readLock(c, path)) })
		}
		time.Sleep(time.Minute)
		require.Len(t, w.Nodes(t, path), n+1)
		lists.Remove()
		require.LessOrEqual(t, w.Fake.CountRequests(zktest.OpMulti), 20)
		require.NoError(t, first.Release(ctx))
		all.Wait()
		require.EqualValues(t, 1, sessionNumber(t, c))
		w.NothingLeft(t, path)
	})
}

func readLock(c *framework.Client, path string) locks.Locker {
	return locks.NewInterProcessReadWriteLock(c, path).ReadLock()
}
