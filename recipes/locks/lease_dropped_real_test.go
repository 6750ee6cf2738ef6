//go:build real

package locks_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

const droppedLine = "lease dropped without a release"

// dropping returns a client of a fake server, and the client's log. It runs in
// real time, because the garbage collector is outside any bubble.
func dropping(t *testing.T) (*framework.Client, *recipetest.Log) {
	srv := zktest.Start(t)
	var log recipetest.Log
	c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c, &log
}

// collect runs the garbage collector until a condition holds. It fails the
// test after two minutes.
func collect(t *testing.T, until func() bool) {
	t.Helper()
	require.Eventually(t, func() bool { runtime.GC(); return until() }, 2*time.Minute, 50*time.Millisecond)
}

// The report of a dropped lease names the lock's path and the name of its
// node.
func TestDroppedLeaseIsReportedOnce(t *testing.T) {
	t.Parallel()
	c, log := dropping(t)
	rw := locks.NewInterProcessReadWriteLock(c, "/rw")
	nodes := map[string]string{} // by path
	for path, lock := range map[string]locks.Locker{
		"/mutex": locks.NewInterProcessMutex(c, "/mutex"), "/rw": rw.WriteLock(),
		"/semaphore": locks.NewInterProcessSemaphore(c, "/semaphore", locks.Limit(3)),
	} {
		func() {
			lease, err := lock.Acquire(t.Context())
			require.NoError(t, err)
			nodes[path] = lease.Path()
			_, done := lease.WithContext(t.Context())
			done()
		}()
	}
	collect(t, func() bool { return strings.Count(log.String(), droppedLine) >= len(nodes) })
	for path, node := range nodes {
		require.Regexp(t, fmt.Sprintf("%s.*curator.lock.path=%s curator.*curator.lock.node=%s ",
			droppedLine, path, node[strings.LastIndex(node, "/")+1:]), log.String())
		_, _, err := c.Get(t.Context(), node)
		require.NoError(t, err, "it is held still")
	}
	require.Equal(t, len(nodes), strings.Count(log.String(), droppedLine))
}

// The log reports no lease that is in use, that was released, or that was
// lost.
func TestNoLeaseIsReportedWithoutReason(t *testing.T) {
	t.Parallel()
	c, log := dropping(t)
	released := func(path string) {
		lease := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, path))
		require.NoError(t, lease.Release(t.Context()))
	}
	func() { // these leases were released
		released("/released")
		require.NoError(t, locks.NewInterProcessMutex(c, "/done").Do(t.Context(), func(context.Context) error { return nil }))
		multi, err := locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/a", "/b"})...).Acquire(t.Context())
		require.NoError(t, err)
		require.NoError(t, multi.Release(t.Context()))
		selector := leader.NewSelector(c, "/selector")
		require.NoError(t, selector.Run(t.Context(), func(context.Context) error { return nil }))
		latch, err := leader.NewLatch(c, "/latch")
		require.NoError(t, err)
		_, err = latch.WaitLeadership(t.Context())
		require.NoError(t, err)
		require.NoError(t, latch.Shutdown(t.Context()))
	}()
	func() { // this lease was lost
		lease := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/lost"))
		require.NoError(t, c.Delete(t.Context(), lease.Path(), framework.AnyVersion))
		<-lease.Context().Done()
		runtime.KeepAlive(lease)
	}()
	standing, err := leader.NewLatch(c, "/standing") // the test keeps no lease of this latch
	require.NoError(t, err)
	_, err = standing.WaitLeadership(t.Context())
	require.NoError(t, err)

	// These leases are in use. The test keeps a lease, a lease's context, a
	// context derived from it, and the context of another lock's lease under
	// it.
	lease := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/lease"))
	ctx := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/context")).Context()
	derived, cancel := context.WithCancel(locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/derived")).Context())
	defer cancel()
	under, done := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/under")).WithContext(t.Context())
	defer done()
	inner := locktest.Acquire(t, locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/outer")).Context(), locks.NewInterProcessMutex(c, "/inner"))

	// This lease is dropped last, and it is the only one to be reported.
	func() { locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/dropped")) }()
	collect(t, func() bool { return strings.Contains(log.String(), "curator.lock.path=/dropped ") })
	again := strings.Count(log.String(), droppedLine)
	require.Equal(t, 1, again, log.String())
	for _, ctx := range []context.Context{lease.Context(), ctx, derived, under, inner.Context(), standing.Leadership().Context()} {
		require.NoError(t, ctx.Err())
		got, ok := locks.LeaseFromContext(ctx)
		require.True(t, ok)
		require.NoError(t, got.Context().Err())
	}
}
