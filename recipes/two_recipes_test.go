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
	"github.com/gocurator/curator/testing/zktest"
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
		other  string
	}{
		"mutex behind a latch":         {"latch-", mutex, "mutex or leader selector", "leader latch"},
		"latch behind a selector":      {"lock-", latch, "leader latch", "mutex or leader selector"},
		"write lock behind a mutex":    {"lock-", writer, "read/write lock", "mutex or leader selector"},
		"write lock among its own":     {"__READ__", nil, "", ""},
		"mutex beside anything else's": {"other-", mutex, "", ""},
		"mutex behind a semaphore":     {"leases/lease-", mutex, "mutex or leader selector", "semaphore"},
		"latch behind a semaphore":     {"leases/lease-", latch, "leader latch", "semaphore"},
		"mutex where one was":          {"leases/other-", mutex, "", ""},
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
				if strings.HasPrefix(tc.kind, "leases/") {
					require.NoError(t, s.srv.Create("/p/leases", nil))
					require.NoError(t, s.srv.Create("/p/locks", nil))
				}
				require.NoError(t, s.srv.Create("/p/"+tc.kind+"0000000000", nil))
				tc.second(t, recipetest.Within(t, time.Minute), c)
				time.Sleep(time.Second)
				if tc.ours == "" {
					require.NotContains(t, log.String(), message)
					return
				}
				require.Equal(t, 1, strings.Count(log.String(), message), log.String())
				require.Contains(t, log.String(), `"`+tc.ours+`"`)
				require.Contains(t, log.String(), tc.other)
				require.Contains(t, log.String(), "/p/"+tc.kind)
			})
		})
	}
}

// The look for a semaphore's leases is for the log alone. A lock does not wait for
// its answer, so that it is not granted by a listing that is as old as that.
func TestLockDoesNotWaitForTheLookForAnotherRecipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		c := s.connect(t)
		for _, node := range []string{"/p", "/p/leases", "/p/locks"} {
			require.NoError(t, s.srv.Create(node, nil))
		}
		look := s.srv.Inject(zktest.Rule{Op: zktest.OpGetChildren2, Path: "/p/leases", Do: zktest.DelayReply(3 * time.Second)})
		mutex, start := locks.NewInterProcessMutex(c, "/p"), time.Now()
		lease, err := mutex.Acquire(t.Context())
		require.NoError(t, err)
		require.Zero(t, time.Since(start))
		synctest.Wait()
		require.Equal(t, 1, look.Hits())
		require.NoError(t, lease.Release(t.Context()))
	})
}
