package locks_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// A service that has zk.Lock can change over process by process.
func TestMutexAndZkLockExcludeEachOther(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		mutex := locks.NewInterProcessMutex(c, path)
		theirs := zk.NewLock(connectZk(t, w), path, zk.WorldACL(zk.PermAll))

		lease := recipetest.Acquire(t, ctx, mutex)
		locked := make(chan error, 1)
		go func() { locked <- theirs.Lock() }()
		w.WaitNodes(t, path, 2)
		require.Empty(t, locked)
		require.NoError(t, lease.Release(ctx))
		require.NoError(t, <-locked)

		ours := recipetest.AcquireLater(ctx, mutex)
		w.WaitNodes(t, path, 2)
		require.False(t, ours.IsOver())
		require.NoError(t, theirs.Unlock())
		require.NoError(t, ours.Wait(t).Release(ctx))
	})
}

// connectZk returns a connection of go-zookeeper's own, closed at the end of the
// test.
func connectZk(t *testing.T, w *world) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect([]string{w.Addr}, w.Session, zk.WithLogger(silent{}),
		zk.WithDialer(func(network, address string, _ time.Duration) (net.Conn, error) {
			return w.Dial(context.Background(), network, address)
		}))
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		for range events { // closed when the last of its goroutines has ended
		}
	})
	return conn
}
