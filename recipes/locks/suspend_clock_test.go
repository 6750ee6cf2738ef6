package locks_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// suspendClock is a suspend clock of the user's. It calls a function the next time
// that it is asked.
type suspendClock struct{ next atomic.Pointer[func()] }

func (c *suspendClock) suspended() time.Duration {
	if do := c.next.Swap(nil); do != nil {
		(*do)()
	}
	return 0
}

// whenAsked has the clock call a function once.
func (c *suspendClock) whenAsked(do func()) { c.next.Store(&do) }

// noReturns are how a function of the user's may not return.
var noReturns = map[string]func(){"panic": func() { panic("no return") }, "goexit": runtime.Goexit}

// withoutReturn calls a function, which does not return, on its own goroutine.
func withoutReturn(t *testing.T, f func()) {
	t.Helper()
	done, returned := make(chan struct{}), false
	go func() {
		defer close(done)
		defer func() { recover() }()
		f()
		returned = true
	}()
	<-done
	require.False(t, returned)
}

// A release asks the clock before it hands the lock over. The next goroutine gets
// a turn all the same.
func TestWaiterOutlastsASuspendClockThatDoesNotReturn(t *testing.T) {
	for way, end := range noReturns {
		t.Run(way, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				var clock suspendClock
				c, _ := w.Connect(t, framework.WithSuspendClock(clock.suspended))
				m := locks.NewInterProcessMutex(c, path, locks.WithLocalHandOver(100, time.Hour))
				queue := queueUp(ctx, m, 3)
				first := queue[0].Wait(t)
				clock.whenAsked(end)
				withoutReturn(t, func() { first.Release(ctx) })
				time.Sleep(time.Second)
				require.True(t, queue[1].IsOver(), "the waiter is lost")
				require.NoError(t, queue[1].Wait(t).Release(ctx))
				require.NoError(t, queue[2].Wait(t).Release(ctx))
				w.NothingLeft(t, path)
			})
		})
	}
}

// A clock that takes long holds up the release, and no waiter beyond its context.
func TestWaiterDoesNotWaitForASlowSuspendClock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		var clock suspendClock
		c, _ := w.Connect(t, framework.WithSuspendClock(clock.suspended))
		m := locks.NewInterProcessMutex(c, path, locks.WithLocalHandOver(100, time.Hour))
		first := locktest.Acquire(t, ctx, m)
		second := locktest.AcquireLater(recipetest.Within(t, 5*time.Second), m)
		synctest.Wait()
		slow, released := make(chan struct{}), make(chan error, 1)
		clock.whenAsked(func() { <-slow })
		go func() { released <- first.Release(ctx) }()
		time.Sleep(6 * time.Second)
		require.True(t, second.IsOver(), "the clock keeps the waiter")
		require.ErrorIs(t, second.Err, context.DeadlineExceeded)
		third := locktest.AcquireLater(ctx, m)
		close(slow)
		require.NoError(t, <-released)
		require.NoError(t, third.Wait(t).Release(ctx))
		w.NothingLeft(t, path)
	})
}

// A waiter that leaves while the clock is asked gets no lock. The release deletes
// the node then, and says so if the server refuses that.
func TestReleaseThatFindsNobodyToHandOverToTellsOfARefusal(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		var clock suspendClock
		c, _ := w.Connect(t, framework.WithSuspendClock(clock.suspended))
		m := locks.NewInterProcessMutex(c, path, locks.WithLocalHandOver(100, time.Hour))
		first := locktest.Acquire(t, ctx, m)
		second := locktest.AcquireLater(recipetest.Within(t, 5*time.Second), m)
		synctest.Wait()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
		slow, released := make(chan struct{}), make(chan error, 1)
		clock.whenAsked(func() { <-slow })
		go func() { released <- first.Release(ctx) }()
		time.Sleep(6 * time.Second)
		require.True(t, second.IsOver())
		close(slow)
		require.ErrorIs(t, <-released, zk.ErrNoAuth)
	})
}

// Whoever takes a lock that is idle asks the clock. The lock does not stay with
// nobody.
func TestIdleLockOutlastsASuspendClockThatDoesNotReturn(t *testing.T) {
	for way, end := range noReturns {
		t.Run(way, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				var clock suspendClock
				c, _ := w.Connect(t, framework.WithSuspendClock(clock.suspended))
				m := locks.NewInterProcessMutex(c, path, locks.WithCachedLock(100, time.Hour))
				once(t, ctx, m)
				clock.whenAsked(end)
				withoutReturn(t, func() { m.Acquire(ctx) })
				for _, user := range []*framework.Client{c, w.Observer} {
					l, err := locks.NewInterProcessMutex(user, path).Acquire(recipetest.Within(t, time.Minute))
					require.NoError(t, err, "nobody has the lock, and nobody gives it up")
					require.NoError(t, l.Release(ctx))
				}
				once(t, ctx, m)
				once(t, ctx, locks.NewInterProcessMutex(w.Observer, path))
				w.NothingLeft(t, path)
			})
		})
	}
}
