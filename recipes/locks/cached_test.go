package locks_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// cachedFor is for how long the locks of these tests are kept, unless they say
// otherwise.
const cachedFor = time.Minute

func cachedMutex(c *framework.Client, path string, opts ...locks.MutexOption) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(c, path, append(opts, locks.WithCachedLock(1000, cachedFor))...)
}

// once acquires and releases a lock, and returns the lease.
func once(t *testing.T, ctx context.Context, l locks.Locker) *locks.Lease {
	t.Helper()
	lease := locktest.Acquire(t, ctx, l)
	require.NoError(t, lease.Context().Err())
	require.NoError(t, lease.Release(ctx))
	require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
	return lease
}

// idle makes a lock idle, and returns its node.
func (w *world) idle(t *testing.T, ctx context.Context, l locks.Locker) (node string) {
	t.Helper()
	node = once(t, ctx, l).Path()
	synctest.Wait()
	require.True(t, w.exists(node), "the node stays")
	return node
}

func (w *world) exists(node string) bool {
	_, ok := w.Fake.Node(node)
	return ok
}

func TestCachedLockCostsNoRequest(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		require.NoError(t, w.Fake.Create(path, nil))
		c, _ := w.Connect(t)
		w.Fake.ClearRequests()
		first := once(t, ctx, cachedMutex(c, path))
		require.Equal(t, []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2, zktest.OpGetChildren2}, w.Requests())
		w.Fake.ClearRequests()
		for range 100 {
			again := once(t, ctx, cachedMutex(c, path))
			require.Equal(t, first.FencingToken(), again.FencingToken())
		}
		tried, err := cachedMutex(c, path).TryAcquire(ctx)
		require.NoError(t, err)
		require.NoError(t, tried.Release(ctx))
		require.Empty(t, w.Requests())

		time.Sleep(cachedFor - 1)
		require.True(t, w.exists(first.Path()))
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.False(t, w.exists(first.Path()))
		require.Equal(t, []zktest.Op{zktest.OpGetData, zktest.OpDelete}, w.Requests(), "a watch on the node, after a second")
		w.NothingLeft(t, path)
	})
}

// A lock is idle from each release on.
func TestUseOfACachedLockKeepsItInTheProcess(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := cachedMutex(c, path)
		node := w.idle(t, ctx, m)
		for range 10 {
			time.Sleep(cachedFor - time.Second)
			lease := locktest.Acquire(t, ctx, m)
			time.Sleep(2 * cachedFor)
			require.NoError(t, lease.Context().Err())
			require.NoError(t, lease.Release(ctx))
			require.Equal(t, node, lease.Path())
		}
		w.NothingLeft(t, path)
	})
}

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

// Who only tries is refused, and has gone when the client hears of it. The next
// try gets the lock. If the lock is idle, the client may be so fast that the first
// try gets it already.
func TestIdleLockIsGivenUpForOneThatTries(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		theirs := locks.NewInterProcessMutex(other, path)
		for _, held := range []bool{false, true} {
			w.idle(t, ctx, cachedMutex(c, path))
			var ours *locks.Lease
			if held {
				ours = locktest.Acquire(t, ctx, cachedMutex(c, path))
			}
			lease, err := theirs.TryAcquire(ctx)
			if err == nil && !held {
				require.NoError(t, lease.Release(ctx))
			} else {
				require.ErrorIs(t, err, locks.ErrNotAcquired)
			}
			synctest.Wait()
			if held {
				require.NoError(t, ours.Context().Err())
				require.NoError(t, ours.Release(ctx))
			}
			lease, err = theirs.TryAcquire(ctx)
			require.NoError(t, err)
			require.NoError(t, lease.Release(ctx))
		}
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

func TestCachedLockIsHandedOutSoManyTimes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path, locks.WithCachedLock(3, time.Hour))
		for range 3 {
			first := once(t, ctx, m)
			for range 3 {
				require.True(t, w.exists(first.Path()))
				require.Equal(t, first.FencingToken(), once(t, ctx, m).FencingToken())
			}
			require.False(t, w.exists(first.Path()))
		}
		w.NothingLeft(t, path)
	})
}

// The longest idle goes first.
func TestIdleLocksOfAClientAreBounded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		name := func(i int) string {
			return path + "/" + string(rune('a'+i/26/26)) + string(rune('a'+i/26%26)) + string(rune('a'+i%26))
		}
		const most = 1000
		theirs := w.idle(t, ctx, cachedMutex(other, path+"/theirs"))
		nodes := make([]string, most+2)
		for i := range most {
			nodes[i] = once(t, ctx, cachedMutex(c, name(i))).Path()
		}
		once(t, ctx, cachedMutex(c, name(0))) // it is idle for the shortest time now
		for i := most; i < most+2; i++ {
			nodes[i] = once(t, ctx, cachedMutex(c, name(i))).Path()
		}
		synctest.Wait()
		for i, node := range nodes {
			require.Equal(t, i != 1 && i != 2, w.exists(node), "%d", i)
		}
		require.True(t, w.exists(theirs), "each client has its own bound")
		require.Len(t, w.Fake.Session(c.SessionID()).Ephemerals(), most)
		time.Sleep(cachedFor)
		w.NoWatches(t)
		require.Empty(t, w.Fake.Session(c.SessionID()).Ephemerals())
	})
}

// Whatever ends a lease ends an idle lock. Its node goes, and the next acquire
// has another one.
func TestIdleLockIsLostLikeALease(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, w *world, c *framework.Client, network *recipetest.Network, node string){
		"session": func(_ *testing.T, w *world, c *framework.Client, _ *recipetest.Network, _ string) {
			w.Fake.Session(c.SessionID()).Expire()
		},
		"time is up": func(_ *testing.T, _ *world, c *framework.Client, network *recipetest.Network, _ string) {
			heal := network.Isolate()
			time.Sleep(15 * time.Second)
			heal()
		},
		"suspended": func(_ *testing.T, _ *world, _ *framework.Client, network *recipetest.Network, _ string) {
			network.Cut()
			time.Sleep(time.Second)
		},
		"node": func(t *testing.T, w *world, _ *framework.Client, _ *recipetest.Network, node string) {
			require.NoError(t, w.Fake.Delete(node))
		},
		"revoked": func(t *testing.T, w *world, _ *framework.Client, _ *recipetest.Network, node string) {
			require.NoError(t, locks.Revoke(t.Context(), w.Observer, node))
			time.Sleep(2 * time.Second)
		},
	} {
		for _, revocable := range []bool{false, true} {
			if revocable && name != "revoked" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					ctx, path := w.Patience(t), recipetest.Path(t)
					var clientOpts []framework.Option
					if name == "suspended" {
						clientOpts = append(clientOpts, framework.WithErrorPolicy(state.StandardPolicy))
					}
					c, network := w.Connect(t, clientOpts...)
					var opts []locks.MutexOption
					if revocable {
						opts = append(opts, locks.WithRevocation())
					}
					m := cachedMutex(c, path, opts...)
					first := once(t, ctx, m)
					synctest.Wait()
					lose(t, w, c, network, first.Path())
					synctest.Wait()
					require.False(t, w.exists(first.Path()))
					require.NoError(t, c.WaitConnected(ctx))
					again := once(t, ctx, m)
					require.Greater(t, again.FencingToken(), first.FencingToken())
					w.NothingLeft(t, path)
				})
			})
		}
	}
}

// The end of the client is that of its idle locks.
func TestIdleLocksGoWithTheirClient(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		node := w.idle(t, ctx, cachedMutex(c, path))
		require.NoError(t, c.Close())
		require.False(t, w.exists(node))
		_, err := cachedMutex(c, path).Acquire(ctx)
		require.ErrorIs(t, err, framework.ErrClosed)
		w.NothingLeft(t, path)
	})
}

// A machine wakes up when the session's time is over. An acquire that comes before
// the client has noticed does not get the lock of that session.
func TestIdleLockIsNotHandedOutAfterASleep(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		host := w.Fake.NewHost()
		c, _ := w.Connect(t, framework.WithDialer(host.Dialer()), framework.WithSuspendClock(host.Suspended))
		m := cachedMutex(c, path)
		first := once(t, ctx, m)
		require.NoError(t, host.Suspend(time.Hour))
		again := locktest.Acquire(t, ctx, m)
		require.Greater(t, again.FencingToken(), first.FencingToken())
		require.NoError(t, again.Context().Err())
		require.NoError(t, again.Release(ctx))
		w.NothingLeft(t, path)
	})
}

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
func TestIdleLockOutlastsAnOutage(t *testing.T) {
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

// The servers refuse to set the watch again after a reconnect.
func TestNoIdleLockIsKeptWithoutAWatch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, network := w.Connect(t)
		node := w.idle(t, ctx, cachedMutex(c, path))
		refused := w.Fake.Inject(zktest.Rule{
			Op: zktest.OpSetWatches, Session: c.SessionID(), Times: -1, Do: zktest.Fail(zktest.ErrThrottled),
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
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren2, Session: c.SessionID(), Do: zktest.Fail(zktest.ErrNoAuth)})
		require.NoError(t, lease.Release(ctx))
		require.False(t, w.exists(lease.Path()))
		w.NothingLeft(t, path)
	})
}

// Somebody queues just before the look at the queue is answered, or just after.
func TestOneThatComesDuringTheLookIsSeen(t *testing.T) {
	for name, action := range map[string]func(func(zktest.Request)) zktest.Action{"before": zktest.Call, "after": zktest.CallAfter} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				lease := locktest.Acquire(t, ctx, cachedMutex(c, path))
				theirs := path + "/lock-0000000100"
				w.Fake.Inject(zktest.Rule{
					Op: zktest.OpGetChildren2, Session: c.SessionID(),
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

// Others want a lock that had to be waited for. Its release makes no look at the
// queue, so that it costs no more than that of a lock that is not cached.
func TestLockThatWasWaitedForIsNotKept(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		theirs := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(other, path))
		waiting := locktest.AcquireLater(ctx, cachedMutex(c, path))
		synctest.Wait()
		require.NoError(t, theirs.Release(ctx))
		ours := waiting.Wait(t)
		w.Fake.ClearRequests()
		require.NoError(t, ours.Release(ctx))
		require.Equal(t, []zktest.Op{zktest.OpDelete}, w.Requests())
		w.idle(t, ctx, cachedMutex(c, path))
		w.NothingLeft(t, path)
	})
}

// An object without the option, or whose nodes would be others, is a contender as
// everybody else is.
func TestOtherObjectsGetACachedLock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		view, err := c.Namespace(path)
		require.NoError(t, err)
		for i, m := range []*locks.InterProcessMutex{
			locks.NewInterProcessMutex(c, path+"/0"),
			cachedMutex(view, "/1"),
			cachedMutex(c, path+"/2", locks.WithNodeData([]byte("data"))),
			cachedMutex(c, path+"/3", locks.WithoutIdentity()),
			cachedMutex(c, path+"/4", locks.WithRevocation()),
			cachedMutex(c, path+"/5", locks.WithLocalHandOver(10, time.Hour)),
		} {
			node := w.idle(t, ctx, cachedMutex(c, fmt.Sprint(path, "/", i)))
			start := time.Now()
			lease := locktest.Acquire(t, ctx, m)
			require.Zero(t, time.Since(start))
			require.False(t, w.exists(node), "%d", i)
			require.NoError(t, lease.Release(ctx))
			once(t, ctx, m)
			time.Sleep(cachedFor)
			w.NothingLeft(t, fmt.Sprint(path, "/", i))
		}
	})
}

func TestMultiLockOfCachedLocksCostsNoRequest(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMultiLock(cachedMutex(c, path+"/a"), cachedMutex(c, path+"/b"))
		once(t, ctx, m)
		w.Fake.ClearRequests()
		for range 10 {
			once(t, ctx, m)
		}
		require.Empty(t, w.Requests())
		w.NothingLeft(t, path+"/a")
	})
}

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

// A lease has the values of its acquirer, whichever acquire has made the node, and
// it is told of a loss.
func TestLeaseOfACachedLockIsOneLikeAnyOther(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := cachedMutex(c, path)
		for lost, lose := range map[error]func(l *locks.Lease){
			framework.ErrSessionLost: func(*locks.Lease) { w.Fake.Session(c.SessionID()).Expire() },
			locks.ErrNodeDeleted:     func(l *locks.Lease) { w.Fake.Delete(l.Path()) },
		} {
			once(t, context.WithValue(ctx, anyKey{}, "first"), m)
			lease := locktest.Acquire(t, context.WithValue(ctx, anyKey{}, "second"), m)
			require.Equal(t, "second", lease.Context().Value(anyKey{}))
			again := locktest.Acquire(t, lease.Context(), m)
			require.NoError(t, again.Release(ctx))
			time.Sleep(2 * time.Second)
			lose(lease)
			<-lease.Context().Done()
			require.ErrorIs(t, context.Cause(lease.Context()), lost)
			require.ErrorIs(t, lease.Release(ctx), lost)
			require.NoError(t, c.WaitConnected(ctx))
		}
		w.NothingLeft(t, path)
	})
}

// A release whose context has ended keeps the lock, if that takes no request.
func TestReleaseAfterItsContextMayKeepTheLock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := cachedMutex(c, path)
		ended, end := context.WithCancel(ctx)
		end()
		first := locktest.Acquire(t, ctx, m)
		require.NoError(t, first.Release(ended))
		synctest.Wait()
		require.False(t, w.exists(first.Path()))
		node := w.idle(t, ctx, m)
		require.NoError(t, locktest.Acquire(t, ctx, m).Release(ended))
		synctest.Wait()
		require.True(t, w.exists(node))
		w.NothingLeft(t, path)
	})
}

// The lock is lost, or asked for, while its release makes it idle. Nobody waits
// for a lock that nobody has, and nobody gets one that is lost.
func TestLossWhileACachedLockBecomesIdle(t *testing.T) {
	for name, happens := range map[string]func(w *world, node string){
		"deleted": func(w *world, node string) { w.Fake.Delete(node) },
		"revoked": func(w *world, node string) { w.Fake.Set(node, []byte("__REVOKE__")) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				m := cachedMutex(c, path)
				for range thorough.Size(1000, 100) {
					once(t, ctx, m)
					lease := locktest.Acquire(t, ctx, m)
					lease.Revoked() // begins to watch the node
					synctest.Wait()
					go happens(w, lease.Path())
					go lease.Release(ctx)
					synctest.Wait()
					require.False(t, w.exists(lease.Path()))
				}
				w.NothingLeft(t, path)
			})
		})
	}
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
