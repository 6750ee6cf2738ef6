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
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// A restored backup, or a tool, has left a node that no session owns. Who waits for it
// is told so by the error, and by one line of the log.
func TestWaiterBehindANodeThatNoSessionOwns(t *testing.T) {
	for name, tc := range map[string]struct {
		node    string
		waiters int // that wait for others, before the one under test
		lock    func(c *framework.Client) locks.Locker
	}{
		"mutex":          {node: "/l/lock-0000000000", lock: mutexAt},
		"second in line": {node: "/l/lock-0000000000", lock: mutexAt, waiters: 1},
		"in the process": {node: "/l/lock-0000000000", lock: mutexAt, waiters: 2},
		"reader":         {node: "/l/__WRIT__0000000000", lock: readerAt},
		"semaphore":      {node: "/l/leases/lease-0000000000", lock: semaphoreAt},
		"gate":           {node: "/l/locks/lock-0000000000", lock: semaphoreAt},
		"latch":          {node: "/l/latch-0000000000"},
	} {
		wait := func(ctx context.Context, c *framework.Client) error {
			if tc.lock == nil {
				return leadOnce(ctx, c)
			}
			return acquireAndRelease(ctx, tc.lock(c))
		}
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				require.NoError(t, w.Fake.Create(tc.node, nil))
				require.NoError(t, zkinside.Of(w.Fake).SetSequence(tc.node[:strings.LastIndex(tc.node, "/")], 1))
				var log strings.Builder
				c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				for range tc.waiters {
					go wait(recipetest.Within(t, time.Hour), c)
					synctest.Wait()
				}
				refused := notAcquired(t, wait(recipetest.Within(t, time.Minute), c))
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

// leadOnce waits for the leadership of a latch.
func leadOnce(ctx context.Context, c *framework.Client) error {
	l, err := leader.NewLatch(c, "/l")
	if err != nil {
		return err
	}
	defer l.Shutdown(context.WithoutCancel(ctx))
	_, err = l.WaitLeadership(ctx)
	return err
}

// The node is behind a holder. The error names it when it keeps the lock.
func TestWaiterBehindAHolderAndANodeThatNoSessionOwns(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		holder := hold(t, t.Context(), mutexAt(w.Observer))
		require.NoError(t, w.Fake.Create("/l/lock-0000000001", nil))
		require.NoError(t, zkinside.Of(w.Fake).SetSequence("/l", 2))
		c, _ := w.Connect(t)
		m := mutexAt(c)
		_, err := m.Acquire(recipetest.Within(t, time.Minute))
		require.Empty(t, notAcquired(t, err).Unowned)
		require.NotContains(t, err.Error(), "no session")
		require.NoError(t, holder.Release(t.Context()))
		_, err = m.Acquire(recipetest.Within(t, time.Minute))
		require.Equal(t, "lock-0000000001", notAcquired(t, err).Unowned)
	})
}

func acquireAndRelease(ctx context.Context, l locks.Locker) error {
	lease, err := l.Acquire(ctx)
	if err != nil {
		return err
	}
	return lease.Release(ctx)
}
