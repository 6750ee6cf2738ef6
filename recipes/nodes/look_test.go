package nodes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/nodes"
)

// replaced replaces the owner's node by another client's node. The new node has the
// same version.
func (w *world) replaced(t *testing.T, path string) {
	t.Helper()
	ours, _ := w.Fake.Node(path)
	require.NoError(t, w.Fake.Delete(path))
	require.NoError(t, w.Fake.Create(path, []byte("of somebody else")))
	for range ours.Stat.Version {
		require.NoError(t, w.Fake.Set(path, []byte("of somebody else")))
	}
}

// While there is no connection, another client's node replaces the owner's node.
// Shutdown has received no change, and must not rely on that.
func TestShutdownLooksBehindAnInterruption(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		n := start(t, c, "/a", "data")
		w.ready(t, n)
		synctest.Wait()
		network.Refuse(true)
		network.Cut()
		synctest.Wait()
		over := make(chan error, 1)
		go func() { over <- n.Shutdown(w.Patience(t)) }()
		synctest.Wait()
		w.replaced(t, "/a")
		network.Refuse(false)
		require.NoError(t, <-over)
		require.Equal(t, "of somebody else", w.dataOf("/a"))
		require.Empty(t, w.Fake.Watches())
	})
}

// The network drops what the server sends, and delivers what the client sends. The
// client does not know yet. Another client's node replaces the owner's node. Shutdown
// has to hear from the server before it deletes.
//
// Promise: Shutdown reads a persistent node before it deletes the node.
func TestShutdownLooksBehindAConnectionThatIsSilent(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := start(t, c, "/a", "data")
		w.ready(t, n)
		synctest.Wait()
		require.True(t, w.Fake.Session(c.SessionID()).Blackhole())
		time.Sleep(time.Second)
		w.replaced(t, "/a")
		time.Sleep(time.Second)
		require.NoError(t, n.Shutdown(context.Background()))
		require.Equal(t, "of somebody else", w.dataOf("/a"))
	})
}

// A node whose life ends without a deletion leaves no watch either.
func TestTTLNodeThatIsShutDownLeavesNoWatch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := start(t, c, "/a", "data", nodes.WithTTL(time.Minute))
		w.ready(t, n)
		synctest.Wait()
		require.NotEmpty(t, w.Fake.Watches())
		require.NoError(t, n.Shutdown(w.Patience(t)))
		synctest.Wait()
		require.Empty(t, w.Fake.Watches())
	})
}
