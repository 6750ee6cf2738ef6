//go:build real

package interop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/nodes"
)

// One of our instances whose session is killed is registered again, once, for the
// readers of both languages. It is no change for our directory, whose grace is
// longer.
func TestOurInstanceComesBackInBothLanguages(t *testing.T) {
	onEachCurator(t, func(t *testing.T, srv *testServer, start startFunc) {
		base, tap := lockPath(t), &interceptor{}
		client := srv.connect(t, longSession, framework.WithDialer(tap.dial))
		ours := register(t, client, base, order("a1", "one"))
		register(t, srv.observer, base, order("stays", "three")) // the server would delete an empty container
		before, err := ours.WaitRegistered(withDeadline(t))
		require.NoError(t, err)
		changes := readChanges(t, srv.openDirectory(t, base, discovery.WithRemovalGrace(waitLimit)))
		requireChanges(t, changes, "added a1", "added stays", "synced")
		java := start(t, srv.addr, longSession)
		java.must(t, "discovery-open", "registry", base, "void", "compatible")
		java.must(t, "discovery-cache", "registry", "orders")
		events := java.discovered(t, "a1=one", "stays=three")

		id, password := tap.session(t)
		java.must(t, "kill-session", id, password)
		czxid := srv.awaitNewNode(t, base+"/orders/a1", before.Czxid)
		after, err := ours.WaitRegistered(withDeadline(t))
		require.NoError(t, err)
		require.Equal(t, czxid, after.Czxid)

		require.NoError(t, ours.Update(withDeadline(t), order("a1", "two")))
		require.LessOrEqual(t, java.discovered(t, "a1=two", "stays=three"), events+3, "gone, there, updated")
		requireChanges(t, changes, "updated a1")
		_, stat, err := srv.observer.Get(withDeadline(t), base+"/orders/a1")
		require.NoError(t, err)
		require.Equal(t, czxid, stat.Czxid)
	})
}

// Our instance waits for one of Java's with the same ID, which it does not touch.
func TestOurInstanceIsInConflictWithJavas(t *testing.T) {
	onEachCurator(t, func(t *testing.T, srv *testServer, start startFunc) {
		base := lockPath(t)
		java := start(t, srv.addr, longSession)
		java.must(t, "discovery-open", "registry", base, "void", "compatible")
		java.must(t, "discovery-register", "registry", "orders", "a1", "theirs", "8080")
		java.must(t, "discovery-cache", "registry", "orders")
		_, stat, err := srv.observer.Get(withDeadline(t), base+"/orders/a1")
		require.NoError(t, err)

		ours, err := discovery.NewRegistration(srv.connect(t, longSession), base, discovery.CuratorCodec(), order("a1", "ours"))
		require.NoError(t, err)
		awaitState(t, changesOf(t, ours.Node()), nodes.Conflict)
		ended, cancel := context.WithCancel(withDeadline(t))
		cancel()
		_, err = ours.WaitRegistered(ended)
		var conflict *discovery.ConflictError
		require.ErrorAs(t, err, &conflict)
		require.Equal(t, "theirs", conflict.Instance.Address)
		require.Equal(t, stat.EphemeralOwner, conflict.Node.Session)

		java.must(t, "discovery-unregister", "registry", "a1")
		there, err := ours.WaitRegistered(withDeadline(t))
		require.NoError(t, err)
		require.Greater(t, there.Czxid, stat.Czxid)
		// Not a query of Java's: when Java hears late of its connection, it registers
		// again, and deletes whatever node has the path, at that moment ours.
		java.discovered(t, "a1=ours")
		require.NoError(t, ours.Shutdown(withDeadline(t)))
	})
}
