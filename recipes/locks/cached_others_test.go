package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Promise: A cached lock is released as soon as another contender queues.
func TestIdleLockIsGivenUpForOthers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		theirs := locks.NewInterProcessMutex(other, path)
		node := w.idle(t, ctx, cachedMutex(c, path))
		w.Fake.ClearRequests()
		start := time.Now()
		lease := locktest.Acquire(t, ctx, theirs)
		require.Zero(t, time.Since(start))
		require.False(t, w.exists(node))
		require.Equal(t, 1, w.Fake.CountRequests(zktest.OpDelete))
		require.NoError(t, lease.Release(ctx))
		w.NothingLeft(t, path)
	})
}

// A lock that is held goes with its release, by one request.
func TestCachedLockThatIsHeldIsGivenUpByItsRelease(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		m := cachedMutex(c, path)
		w.idle(t, ctx, m)
		lease := locktest.Acquire(t, ctx, m)
		theirs := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(other, path))
		synctest.Wait()
		require.False(t, theirs.IsOver())
		require.NoError(t, lease.Context().Err())
		w.Fake.ClearRequests()
		require.NoError(t, lease.Release(ctx))
		require.Equal(t, []zktest.Op{zktest.OpDelete}, w.Requests())
		require.NoError(t, theirs.Wait(t).Release(ctx))
		w.NothingLeft(t, path)
	})
}

// Somebody queues and gives up while there is no connection.
func TestIdleLockIsGivenUpForOneThatCameDuringAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, network := w.Connect(t)
		other, _ := w.Connect(t)
		node := w.idle(t, ctx, cachedMutex(c, path))
		network.Refuse(true)
		network.Cut()
		_, err := locks.NewInterProcessMutex(other, path).TryAcquire(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired, "nobody has heard of it")
		network.Refuse(false)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.False(t, w.exists(node))
		w.NothingLeft(t, path)
	})
}

// Somebody queues just before the look at the queue is answered, or just after.
//
// Promise: A lock is cached only if no other contender was queued when its watch was set.
func TestOneThatComesDuringTheLookIsSeen(t *testing.T) {
	for name, action := range map[string]func(func(zktest.Request)) zktest.Action{"before": zktest.Call, "after": zktest.CallAfter} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				lease := locktest.Acquire(t, ctx, cachedMutex(c, path))
				theirs := path + "/lock-0000000100"
				w.Fake.Inject(zktest.Rule{
					Op: zkinside.OpGetChildren2, Session: c.SessionID(),
					Do: action(func(zktest.Request) { w.Fake.Create(theirs, nil) }),
				})
				require.NoError(t, lease.Release(ctx))
				synctest.Wait()
				require.True(t, w.exists(theirs))
				require.False(t, w.exists(lease.Path()))
				require.NoError(t, w.Fake.Delete(theirs))
				w.NothingLeft(t, path)
			})
		})
	}
}

// listed is a hook that makes a call when a listing is answered.
type listed func()

func (l listed) EndOperation(context.Context, clienttrace.OperationEnd) {
	l()
}

// Somebody queues after the look at the queue was answered, and before the release
// decides. It waits for the hooks meanwhile.
//
// Promise: A lock is not cached if another contender has queued meanwhile.
func TestOneThatComesWhileTheLockBecomesIdleIsSeen(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		theirs := path + "/lock-0000000100"
		var come func()
		c, _ := w.Connect(t, framework.WithHooks(listed(func() {
			if come != nil {
				come()
			}
		})))
		lease := locktest.Acquire(t, ctx, cachedMutex(c, path))
		come = func() {
			come = nil
			w.Fake.Create(theirs, nil)
			time.Sleep(time.Millisecond) // the client receives the event
		}
		require.NoError(t, lease.Release(ctx))
		synctest.Wait()
		require.True(t, w.exists(theirs))
		require.False(t, w.exists(lease.Path()))
		require.NoError(t, w.Fake.Delete(theirs))
		w.NothingLeft(t, path)
	})
}
