package recipes_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

// sharedLog is a log for tests in real time.
type sharedLog struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (l *sharedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *sharedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

const droppedLine = "lease dropped without a release"

// dropping returns a client of a fake server, in real time, as the garbage
// collector is in no bubble, and its log.
func dropping(t *testing.T) (*framework.Client, *sharedLog) {
	srv := zktest.New(t)
	var log sharedLog
	c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c, &log
}

// collect runs the garbage collector until a condition holds, or for a long
// time.
func collect(t *testing.T, until func() bool) {
	t.Helper()
	require.Eventually(t, func() bool { runtime.GC(); return until() }, 30*time.Second, 50*time.Millisecond)
}

// Locks and what their nodes are called.
func TestDroppedLeaseIsReportedOnce(t *testing.T) {
	c, log := dropping(t)
	rw := recipes.NewInterProcessReadWriteLock(c, "/rw")
	for path, lock := range map[string]recipes.Locker{
		"/mutex": recipes.NewInterProcessMutex(c, "/mutex"), "/rw": rw.Writer(),
		"/semaphore": recipes.NewInterProcessSemaphore(c, "/semaphore", 3),
	} {
		var node string
		func() {
			lease, err := lock.Acquire(t.Context())
			require.NoError(t, err)
			node = lease.Path()
			_, done := lease.Under(t.Context())
			done()
		}()
		about := fmt.Sprintf("curator.lock.path=%s curator", path)
		collect(t, func() bool {
			return strings.Contains(log.String(), droppedLine) && strings.Contains(log.String(), about)
		})
		require.Contains(t, log.String(), "curator.lock.node="+node[strings.LastIndex(node, "/")+1:])
		_, _, err := c.Get(t.Context(), node)
		require.NoError(t, err, "it is held still")
	}
	require.Equal(t, 3, strings.Count(log.String(), droppedLine))
}

func TestDroppedLeaseThatReenteredIsReported(t *testing.T) {
	c, log := dropping(t)
	m := recipes.NewInterProcessMutex(c, "/lock")
	lease := acquire(t, t.Context(), m)
	func() {
		_, err := m.Acquire(lease.Context())
		require.NoError(t, err)
	}()
	collect(t, func() bool { return strings.Contains(log.String(), droppedLine) })
	require.NoError(t, lease.Release(t.Context()))
}

func TestDroppedLeaseOfSeveralLocksIsReported(t *testing.T) {
	c, log := dropping(t)
	func() {
		_, err := recipes.NewInterProcessMultiLock(c, []string{"/a", "/b"}).Acquire(t.Context())
		require.NoError(t, err)
	}()
	collect(t, func() bool { return strings.Contains(log.String(), droppedLine) })
	require.Contains(t, log.String(), "curator.lock.path=/b ")
}

// Nothing that is in use, or was given back, or lost, is reported.
func TestNoLeaseIsReportedWithoutReason(t *testing.T) {
	c, log := dropping(t)
	released := func(path string) {
		lease := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, path))
		require.NoError(t, lease.Release(t.Context()))
	}
	func() { // what was given back
		released("/released")
		require.NoError(t, recipes.NewInterProcessMutex(c, "/done").Do(t.Context(), func(context.Context) error { return nil }))
		multi, err := recipes.NewInterProcessMultiLock(c, []string{"/a", "/b"}).Acquire(t.Context())
		require.NoError(t, err)
		require.NoError(t, multi.Release(t.Context()))
		selector := recipes.NewLeaderSelector(c, "/selector")
		require.NoError(t, selector.Run(t.Context(), func(context.Context) error { return nil }))
		latch := recipes.NewLeaderLatch(c, "/latch")
		require.NoError(t, latch.Start())
		_, err = latch.Await(t.Context())
		require.NoError(t, err)
		require.NoError(t, latch.Close(t.Context()))
	}()
	func() { // what was lost
		lease := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/lost"))
		require.NoError(t, c.Delete(t.Context(), lease.Path(), framework.AnyVersion))
		<-lease.Context().Done()
	}()
	standing := recipes.NewLeaderLatch(c, "/standing") // whose lease nobody has
	require.NoError(t, standing.Start())
	_, err := standing.Await(t.Context())
	require.NoError(t, err)

	// What is in use: a lease, its context, a context that is derived from it,
	// and another lock's under it.
	lease := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/lease"))
	ctx := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/context")).Context()
	derived, cancel := context.WithCancel(acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/derived")).Context())
	defer cancel()
	under, done := acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/under")).Under(t.Context())
	defer done()
	inner := acquire(t, acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/outer")).Context(), recipes.NewInterProcessMutex(c, "/inner"))

	func() { acquire(t, t.Context(), recipes.NewInterProcessMutex(c, "/dropped")) }() // the last, and the only one
	collect(t, func() bool { return strings.Contains(log.String(), "curator.lock.path=/dropped ") })
	again := strings.Count(log.String(), droppedLine)
	require.Equal(t, 1, again, log.String())
	for _, ctx := range []context.Context{lease.Context(), ctx, derived, under, inner.Context(), standing.Leadership().Context()} {
		require.NoError(t, ctx.Err())
		got, ok := recipes.LeaseFromContext(ctx)
		require.True(t, ok)
		require.NoError(t, got.Context().Err())
	}
}
