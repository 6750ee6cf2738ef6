package recipes_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/retry"
)

// everyWork has each call that is given a function of the user's which is work.
// The calls of one row use one object.
var everyWork = map[string]func(t *testing.T, c *framework.Client) (call func(ctx context.Context, work func()) error){
	"mutex":           doing(mutex),
	"read lock":       doing(reader),
	"write lock":      doing(writer),
	"semaphore":       doing(semaphore),
	"semaphore mutex": doing(semaphoreMutex),
	"multi-lock":      doing(several),
	"mutex, cached": doing(func(c *framework.Client) locks.Locker {
		return locks.NewInterProcessMutex(c, "/lock", locks.WithReleasePolicy(locks.ReleasePolicy{
			MaxReuses: 16, Idle: time.Second,
		}))
	}),
	"mutex, handed over": doing(func(c *framework.Client) locks.Locker {
		return locks.NewInterProcessMutex(c, "/lock", locks.WithReleasePolicy(locks.ReleasePolicy{
			MaxReuses: 16, HandOver: time.Second,
		}))
	}),
	"latch": func(t *testing.T, c *framework.Client) func(context.Context, func()) error {
		l, err := leader.NewLatch(c, "/latch")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Shutdown(recipetest.Within(t, time.Second))) })
		return func(ctx context.Context, work func()) error {
			return l.Lead(ctx, func(context.Context) error { work(); return nil })
		}
	},
	"selector": func(_ *testing.T, c *framework.Client) func(context.Context, func()) error {
		s := leader.NewSelector(c, "/selector")
		return func(ctx context.Context, work func()) error {
			return s.Run(ctx, func(context.Context) error { work(); return nil })
		}
	},
	"selector, requeued": func(_ *testing.T, c *framework.Client) func(context.Context, func()) error {
		worked := func() {}
		s := leader.NewSelector(c, "/selector", leader.WithRequeue(func(error) bool { worked(); return false }))
		return func(ctx context.Context, work func()) error {
			worked = work
			return s.Run(ctx, func(context.Context) error { return nil })
		}
	},
	"number": func(_ *testing.T, c *framework.Client) func(context.Context, func()) error {
		n := atomic.NewLong(c, "/number")
		return func(ctx context.Context, work func()) error {
			_, err := n.Update(ctx, func(old int64) (int64, error) { work(); return old + 1, nil })
			return err
		}
	},
	"value": func(_ *testing.T, c *framework.Client) func(context.Context, func()) error {
		v := atomic.NewValue(c, "/value", codec.Bytes())
		return func(ctx context.Context, work func()) error {
			_, err := v.Update(ctx, func(old []byte) ([]byte, error) { work(); return append(old, 'x'), nil })
			return err
		}
	},
	"shared value": func(t *testing.T, c *framework.Client) func(context.Context, func()) error {
		v, err := shared.NewCount(c, "/count", 1)
		require.NoError(t, err)
		t.Cleanup(func() { v.Close() })
		return func(ctx context.Context, work func()) error {
			_, err := v.Update(ctx, func(old int32) (int32, error) { work(); return old + 1, nil })
			return err
		}
	},
	"fence": func(*testing.T, *framework.Client) func(context.Context, func()) error {
		g := fence.NewGuard(0)
		return func(_ context.Context, work func()) error { return g.Do(1, func() error { work(); return nil }) }
	},
	"session": func(_ *testing.T, c *framework.Client) func(context.Context, func()) error {
		return func(ctx context.Context, work func()) error {
			return c.InSession(ctx, func(context.Context) error { work(); return nil })
		}
	},
	"retry": func(*testing.T, *framework.Client) func(context.Context, func()) error {
		return func(ctx context.Context, work func()) error {
			return retry.Do(ctx, retry.None(), framework.IsConnectionError, func(context.Context) error { work(); return nil })
		}
	},
}

// doing returns the Do of a lock.
func doing(kind func(c *framework.Client) locks.Locker) func(*testing.T, *framework.Client) func(context.Context, func()) error {
	return func(_ *testing.T, c *framework.Client) func(context.Context, func()) error {
		l := kind(c).(interface {
			Do(ctx context.Context, f func(ctx context.Context) error) error
		})
		return func(ctx context.Context, work func()) error {
			return l.Do(ctx, func(context.Context) error { work(); return nil })
		}
	}
}

// Work that panics, or ends its goroutine as a test's FailNow does, leaves its
// object usable, time and again.
func TestWorkThatDoesNotReturnLeavesItsObjectUsable(t *testing.T) {
	for name, prepare := range everyWork {
		for way, end := range map[string]func(){"panic": func() { panic("no return") }, "goexit": runtime.Goexit} {
			t.Run(name+"/"+way, func(t *testing.T) {
				recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
					c, _ := w.Connect(t)
					call := prepare(t, c)
					for range 3 {
						returned, ended := false, make(chan struct{})
						go func() {
							defer close(ended)
							defer func() { recover() }()
							call(w.Patience(t), end)
							returned = true
						}()
						<-ended
						require.False(t, returned)
						require.NoError(t, call(w.Patience(t), func() {}))
					}
				})
			})
		}
	}
}
