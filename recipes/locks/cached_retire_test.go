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
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
)

// A machine wakes up when the session's time is over. The holder's release must
// not give the lock of that session to a goroutine that waits.
//
// Promise: A lock is not handed over within the process after the session's time ran out.
func TestLockIsNotPassedOnAfterASleep(t *testing.T) {
	for name, opt := range map[string]locks.MutexOption{
		"cached": locks.WithCachedLock(1000, time.Minute), "local": locks.WithLocalHandOver(1000, 24*time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				host := w.Fake.NewHost()
				c, _ := w.Connect(t, framework.WithDialer(host.Dialer()), framework.WithSuspendClock(host.Suspended))
				m := locks.NewInterProcessMutex(c, path, opt)
				once(t, ctx, m) // the watch on the queue is set
				first := locktest.Acquire(t, ctx, m)
				waiting := locktest.AcquireLater(ctx, m)
				synctest.Wait()
				host.Isolate() // the network is not back yet
				require.NoError(t, host.Suspend(time.Hour))
				require.False(t, w.exists(first.Path()), "the server has given the lock to others")
				first.Release(ctx)
				synctest.Wait()
				require.False(t, waiting.IsOver(), "a waiter got the lock of a session whose time is up")
				host.Heal()
				require.NoError(t, waiting.Wait(t).Release(ctx))
			})
		})
	}
}

// Each acquire has the options of its own object, also one that got the lock in
// the process from a goroutine with another object.
func TestCachedLockHasTheTimeOfItsLastObject(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		long := locks.NewInterProcessMutex(c, path, locks.WithCachedLock(1000, time.Hour))
		short := locks.NewInterProcessMutex(c, path, locks.WithCachedLock(1000, time.Second))
		first := locktest.Acquire(t, ctx, long)
		waiting := locktest.AcquireLater(ctx, short)
		synctest.Wait()
		require.NoError(t, first.Release(ctx))
		second := waiting.Wait(t)
		require.Equal(t, first.Path(), second.Path())
		require.NoError(t, second.Release(ctx))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.False(t, w.exists(first.Path()), "its object keeps it for a second")
	})
}

func TestCachedLockHasTheBoundOfItsLastObject(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		many := locks.NewInterProcessMutex(c, path, locks.WithCachedLock(1000, time.Hour))
		few := locks.NewInterProcessMutex(c, path, locks.WithCachedLock(1, time.Hour))
		first := locktest.Acquire(t, ctx, many)
		waiting := locktest.AcquireLater(ctx, few)
		synctest.Wait()
		require.NoError(t, first.Release(ctx))
		require.NoError(t, waiting.Wait(t).Release(ctx))
		require.False(t, w.exists(first.Path()), "one acquire in a row came without a request")
	})
}

// An operator deletes the node of a holder, which hears of it after a second. The
// release before that looks at the queue, and leaves its watch behind.
//
// Promise: A release of a cached lock whose node is gone leaves no watch.
func TestReleaseOfACachedLockThatIsGoneLeavesNoWatch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		require.NoError(t, w.Fake.Create(path, nil))
		c, _ := w.Connect(t)
		lease := locktest.Acquire(t, ctx, cachedMutex(c, path))
		require.NoError(t, w.Fake.Delete(lease.Path()))
		lease.Release(ctx)
		synctest.Wait()
		require.Zero(t, w.Watches(), "%v", w.Fake.Watches())
	})
}

// cancelAtStart ends the context of an acquire when the hook hears of it.
type cancelAtStart struct {
	locktest.Spy
	cancel context.CancelFunc
}

func (p *cancelAtStart) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	if p.cancel != nil {
		p.cancel()
	}
	return ctx, locktest.SpyOnAcquire{Spy: &p.Spy}
}

// Promise: A cached lock is not given to a caller whose context has ended.
func TestIdleLockIsNotForAContextThatHasEnded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		hook := &cancelAtStart{}
		c, _ := w.Connect(t, framework.WithHooks(hook))
		m := cachedMutex(c, path)
		once(t, ctx, m)
		leaving, cancel := context.WithCancel(ctx)
		hook.cancel = cancel
		_, err := m.Acquire(leaving)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// Nobody has the lock, and nobody queues: it is given up just now.
func TestTryGetsALockThatIsBeingGivenUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := context.Background(), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := cachedMutex(c, path)
		failed := 0
		for range thorough.Size(300, 30) {
			once(t, ctx, m)
			time.Sleep(cachedFor)
			lease, err := m.TryAcquire(ctx)
			if err != nil {
				failed++
				continue
			}
			require.NoError(t, lease.Release(ctx))
			time.Sleep(cachedFor + time.Second)
			synctest.Wait()
		}
		require.Zero(t, failed)
	})
}

// Others wait nearly always, so that the lock may never stay.
func TestCachedLockOfSeveralGoroutinesUnderRandomFaults(t *testing.T) {
	const anyNumber = -1000
	rest := func(round int) time.Duration {
		if round%7 == 0 {
			return time.Duration(10+round%32) * time.Second
		}
		return 0
	}
	t.Run("cached", func(t *testing.T) {
		passedOnUnderRandomFaults(t, anyNumber, 4, rest, locks.WithCachedLock(10, 10*time.Second))
	})
	t.Run("both", func(t *testing.T) {
		passedOnUnderRandomFaults(t, anyNumber, 3, rest, locks.WithCachedLock(10, 10*time.Second), locks.WithLocalHandOver(3, 5*time.Second))
	})
}
