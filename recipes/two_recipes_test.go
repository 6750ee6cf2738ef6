package recipes_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// A latch and a selector at one path both lead, and a mutex and a write lock are
// both held. The log of whoever comes second says so, once for each object.
func TestTwoRecipesAtOnePathAreLogged(t *testing.T) {
	latch := func(t *testing.T, ctx context.Context, c *framework.Client) {
		l, err := leader.NewLatch(c, "/p")
		require.NoError(t, err)
		_, err = l.WaitLeadership(ctx)
		require.NoError(t, err)
		t.Cleanup(func() { l.Shutdown(recipetest.Within(t, time.Minute)) })
	}
	lock := func(of func(c *framework.Client) locks.Locker) func(*testing.T, context.Context, *framework.Client) {
		return func(t *testing.T, ctx context.Context, c *framework.Client) {
			l := of(c)
			for range 2 {
				lease, err := l.Acquire(ctx)
				require.NoError(t, err)
				defer lease.Release(context.WithoutCancel(ctx))
				require.NoError(t, lease.Release(ctx))
			}
		}
	}
	mutex := lock(func(c *framework.Client) locks.Locker { return locks.NewInterProcessMutex(c, "/p") })
	writer := lock(func(c *framework.Client) locks.Locker {
		return locks.NewInterProcessReadWriteLock(c, "/p").WriteLock()
	})
	const message = "two recipes use one path, and neither waits for the other"
	for name, tc := range map[string]struct {
		kind   string
		second func(*testing.T, context.Context, *framework.Client)
		ours   string
	}{
		"mutex behind a latch":         {"latch-", mutex, "mutex"},
		"latch behind a selector":      {"lock-", latch, "leader_latch"},
		"write lock behind a mutex":    {"lock-", writer, "read_write_lock"},
		"write lock among its own":     {"__READ__", nil, ""},
		"mutex beside anything else's": {"other-", mutex, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				var log recipetest.Log
				c := s.connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				if tc.second == nil {
					tc.second = func(t *testing.T, ctx context.Context, c *framework.Client) {
						_, err := locks.NewInterProcessReadWriteLock(c, "/p").WriteLock().TryAcquire(ctx)
						require.ErrorIs(t, err, locks.ErrNotAcquired)
					}
				}
				require.NoError(t, s.srv.Create("/p", nil))
				require.NoError(t, s.srv.Create("/p/"+tc.kind+"0000000000", nil))
				tc.second(t, recipetest.Within(t, time.Minute), c)
				time.Sleep(time.Second)
				if tc.ours == "" {
					require.NotContains(t, log.String(), message)
					return
				}
				require.Equal(t, 1, strings.Count(log.String(), message), log.String())
				require.Contains(t, log.String(), "recipe="+tc.ours)
				require.Contains(t, log.String(), "/p/"+tc.kind)
			})
		})
	}
}
