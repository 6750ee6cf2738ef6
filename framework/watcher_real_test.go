//go:build real

package framework_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
)

// nextTold returns the next n events of a Watcher of a real server, as text.
func nextTold(t *testing.T, w *framework.Watcher, n int) (list []string) {
	t.Helper()
	for range n {
		ev, err := w.Next(within(t, stuck))
		require.NoError(t, err, "after %v", list)
		list = append(list, told(ev))
	}
	return list
}

// These are the traps of servers before 3.9: whatever standard watches do on the same
// path, a persistent watch receives every change, and so do the standard watches.
func TestRealServerPersistentAndStandardWatchesOfOnePath(t *testing.T) {
	srv := zkserver.Start(t)
	c, other := realClient(t, srv, ""), realClient(t, srv, "")
	ctx := within(t, stuck)
	mustCreate(t, c, "/n", "")
	change := func() {
		t.Helper()
		_, err := other.Set(ctx, "/n", nil, framework.AnyVersion)
		require.NoError(t, err)
	}
	node := mustWatch(t, c, "/n")
	for kind, set := range watchKinds(c) {
		one, err := set(ctx, "/n")
		require.NoError(t, err, kind)
		change() // takes a standard watch away
		change()
		require.Equal(t, []string{"changed /n", "changed /n"}, nextTold(t, node, 2), kind)
		one.Stop() // takes half of a persistent one away
		stopped, err := set(ctx, "/n")
		require.NoError(t, err, kind)
		stopped.Stop()
		require.NoError(t, c.Sync(ctx, "/"))
		change()
		mustCreate(t, other, "/n/c", "")
		require.NoError(t, other.Delete(ctx, "/n/c", framework.AnyVersion))
		require.Equal(t, []string{"changed /n", "children /n", "children /n"}, nextTold(t, node, 3), kind)
	}

	// Both modes on one path.
	tree := mustWatch(t, c, "/n", framework.WithRecursion())
	mustCreate(t, other, "/n/c", "")
	mustCreate(t, other, "/n/c/d", "")
	change()
	require.Equal(t, []string{"children /n", "changed /n"}, nextTold(t, node, 2))
	require.Equal(t, []string{"created /n/c", "created /n/c/d", "changed /n"}, nextTold(t, tree, 3))

	// The end of the persistent ones takes standard ones with it.
	_, _, one, err := c.GetW(ctx, "/n")
	require.NoError(t, err)
	node.Close()
	tree.Close()
	require.NoError(t, c.Sync(ctx, "/"))
	change()
	_, err = one.Wait(ctx)
	require.NoError(t, err)
	require.NoError(t, c.Sync(ctx, "/"))
	n, err := srv.WatchCount(ctx)
	require.NoError(t, err)
	require.Zero(t, n, "watches left on the server")
}

func TestRealServerWatchGoesOnAfterARestart(t *testing.T) {
	srv := zkserver.Start(t)
	c := realClient(t, srv, "/chroot")
	ctx := within(t, stuck)
	mustCreate(t, c, "/n", "", framework.WithParents())
	tree, node := mustWatch(t, c, "/", framework.WithRecursion()), mustWatch(t, c, "/n")
	require.NoError(t, srv.Restart())
	require.Equal(t, []string{"reset /"}, nextTold(t, tree, 1))
	require.Equal(t, []string{"reset /n"}, nextTold(t, node, 1))
	mustCreate(t, c, "/n/c", "")
	require.Equal(t, []string{"created /n/c"}, nextTold(t, tree, 1))
	require.Equal(t, []string{"children /n"}, nextTold(t, node, 1))

	before := c.SessionID()
	require.NoError(t, srv.Stop())
	require.Eventually(t, func() bool { return !c.State().IsConnected() }, stuck, 10*time.Millisecond)
	require.NoError(t, srv.Restart())
	require.Equal(t, []string{"reset /"}, nextTold(t, tree, 1))
	require.NoError(t, c.Delete(ctx, "/n/c", framework.AnyVersion))
	require.Equal(t, []string{"deleted /n/c"}, nextTold(t, tree, 1))
	require.Equal(t, before, c.SessionID())
}
