package locks_test

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

// A restored backup, or a tool, has left a node that no session owns. Who waits for it
// is told so by the error, and by one line of the log.
func TestWaiterBehindANodeThatNoSessionOwns(t *testing.T) {
	ours := func(l locks.Locker) func(ctx context.Context) error {
		return func(ctx context.Context) error { return acquireAndRelease(ctx, l) }
	}
	for name, tc := range map[string]struct {
		node    string
		waiters int // that wait for others, before the one under test
		wait    func(c *framework.Client) func(ctx context.Context) error
	}{
		"mutex":  {"/l/lock-0000000000", 0, func(c *framework.Client) func(context.Context) error { return ours(mutexAt(c)) }},
		"second": {"/l/lock-0000000000", 1, func(c *framework.Client) func(context.Context) error { return ours(mutexAt(c)) }},
		"in the process": {"/l/lock-0000000000", 2, func(c *framework.Client) func(context.Context) error {
			return ours(mutexAt(c))
		}},
		"reader":    {"/l/__WRIT__0000000000", 0, func(c *framework.Client) func(context.Context) error { return ours(readerAt(c)) }},
		"semaphore": {"/l/leases/lease-0000000000", 0, func(c *framework.Client) func(context.Context) error { return ours(semaphoreAt(c)) }},
		"gate":      {"/l/locks/lock-0000000000", 0, func(c *framework.Client) func(context.Context) error { return ours(semaphoreAt(c)) }},
		"latch": {"/l/latch-0000000000", 0, func(c *framework.Client) func(context.Context) error {
			return func(ctx context.Context) error {
				l, err := leader.NewLatch(c, "/l")
				if err != nil {
					return err
				}
				defer l.Shutdown(context.WithoutCancel(ctx))
				_, err = l.WaitLeadership(ctx)
				return err
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				require.NoError(t, w.Fake.Create(tc.node, nil))
				require.NoError(t, w.Fake.SetSequence(tc.node[:strings.LastIndex(tc.node, "/")], 1))
				var log strings.Builder
				c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				for range tc.waiters {
					go tc.wait(c)(recipetest.Within(t, time.Hour))
					synctest.Wait()
				}
				refused := notAcquired(t, tc.wait(c)(recipetest.Within(t, time.Minute)))
				require.Equal(t, tc.node[strings.LastIndex(tc.node, "/")+1:], refused.Unowned)
				require.ErrorContains(t, refused, "no session owns node "+refused.Unowned+": only deleting it frees the lock")
				require.NoError(t, w.Fake.Delete(tc.node))
				synctest.Wait()
				require.NoError(t, c.Close())
				require.Contains(t, log.String(), "no session owns this node; only deleting it frees the lock")
				require.Contains(t, log.String(), "znode.path="+tc.node)
			})
		})
	}
}

func acquireAndRelease(ctx context.Context, l locks.Locker) error {
	lease, err := l.Acquire(ctx)
	if err != nil {
		return err
	}
	return lease.Release(ctx)
}
