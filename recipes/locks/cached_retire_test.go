package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
)

// A machine wakes up when the session's time is over. The holder's release must
// not give the lock of that session to a goroutine that waits.
//
// Promise: A lock is not handed over within the process after the session's time ran out.
func TestLockIsNotPassedOnAfterASleep(t *testing.T) {
	for name, opt := range map[string]locks.MutexOption{
		"cached": idleFor(1000, time.Minute), "local": handingOver(1000, 24*time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				host := w.Fake.NewHost()
				c, _ := w.Connect(t, framework.WithDialer(host.Dialer()), insider.WithSuspendClock(zkinside.Suspended(host)).(framework.Option))
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

// An operator deletes the node of a holder, which learns of the deletion after a
// second. A release before that lists the queue, and leaves its watch behind.
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

// cancelAtStart ends the context of an acquire when the acquire begins.
type cancelAtStart struct {
	locktest.Spy
	cancel context.CancelFunc
}

func (p *cancelAtStart) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	if p.cancel != nil {
		p.cancel()
	}
	return ctx, locktest.Calls(p.Told)
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
