package locks_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
)

// reticent is a hook that returns nil, and tracers only as far as a depth.
type reticent struct {
	depth int // 1: of acquires, 2: of holds, too
	diary
}

func (r reticent) StartAcquire(context.Context, locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	if r.depth < 1 {
		return nil, nil
	}
	return nil, r
}

func (r reticent) Trace() map[string]string { return nil }

func (r reticent) StartHold(locktrace.Hold) locktrace.HoldTracer {
	if r.depth < 2 {
		return nil
	}
	return reticentHold{holdDiary{r.diary}}
}

type reticentHold struct{ holdDiary }

func (reticentHold) Context(context.Context) context.Context { return nil }
func (h reticentHold) Overrun() func()                       { h.holdDiary.Overrun(); return nil }

// Each method of a hook may return nil for all that it returns, whether the hook
// is alone or others are beside it, and whoever makes the calls. It gets what it
// has asked for, and the others get everything.
func TestHookMayReturnNil(t *testing.T) {
	for depth := range 3 {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				var alone, beside, other pages
				for _, hooks := range [][]clienttrace.Hook{
					{reticent{depth, diary{"r", &alone}}},
					{diary{"o", &other}, reticent{depth, diary{"r", &beside}}, diary{"o2", &pages{}}},
				} {
					c, _ := w.Connect(t, framework.WithHooks(hooks...))
					w.useEachRecipe(t, c)
				}
				told := []string{}
				if depth > 0 {
					told = append(told, "queued", "waiting", "woken", "acquire ended")
				}
				if depth > 1 {
					told = append(told, "reentered", "hold ended", "overrun")
				}
				for _, event := range told {
					require.Contains(t, alone.read(), event)
					require.Contains(t, beside.read(), event)
				}
				if len(told) == 0 {
					require.Empty(t, alone.read())
					require.Empty(t, beside.read())
				}
				require.Contains(t, other.read(), "hold ended")
				require.Contains(t, other.read(), "returned")
			})
		})
	}
}

// useEachRecipe has a lock that waits and is re-entered, several locks at once, a
// latch, and a selector whose work goes on for too long.
func (w *world) useEachRecipe(t *testing.T, c *framework.Client) {
	t.Helper()
	first := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(w.Observer, "/lock"))
	mutex := locks.NewInterProcessMutex(c, "/lock")
	waiting := locktest.AcquireLater(t.Context(), mutex)
	synctest.Wait()
	require.NoError(t, first.Release(t.Context()))
	lease := waiting.Wait(t)
	require.NoError(t, locktest.Acquire(t, lease.Context(), mutex).Release(t.Context()))
	require.NoError(t, lease.Release(t.Context()))

	several := locks.NewInterProcessMultiLock(mutex, locks.NewInterProcessMutex(c, "/second"))
	require.NoError(t, locktest.Acquire(t, t.Context(), several).Release(t.Context()))

	latch, err := leader.NewLatch(c, "/latch")
	require.NoError(t, err)
	_, err = latch.WaitLeadership(t.Context())
	require.NoError(t, err)
	require.NoError(t, latch.Shutdown(t.Context()))

	err = leader.NewSelector(c, "/selector").Run(t.Context(), func(context.Context) error {
		w.Fake.Session(c.SessionID()).Expire()
		time.Sleep(time.Minute)
		return nil
	})
	require.ErrorIs(t, err, framework.ErrSessionLost)
	synctest.Wait()
}
