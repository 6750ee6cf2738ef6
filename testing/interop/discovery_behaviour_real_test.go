//go:build real

package interop_test

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/nodes"
)

// An instance of ours whose session is killed is registered again, once, for the
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

// To Java, a grandchild is an instance, and a nested service or a node without data
// fails the query. To us, they are no instances, and no errors.
func TestOtherNodesAreInstancesToJavaOnly(t *testing.T) {
	onEachCurator(t, func(t *testing.T, srv *testServer, start startFunc) {
		base := lockPath(t)
		java := start(t, srv.addr, longSession)
		java.must(t, "discovery-open", "registry", base, "void", "compatible")
		java.must(t, "discovery-register", "registry", "orders/eu", "c1", "three", "8080")
		_, data, err := discovery.CuratorCodec().Encode(order("a1", "one"))
		require.NoError(t, err)
		_, grandchild, err := discovery.CuratorCodec().Encode(order("x", "nine"))
		require.NoError(t, err)
		for _, n := range []struct {
			path string
			data []byte
		}{{"/orders/a1", data}, {"/orders/a1/x", grandchild}, {"/orders/empty", nil}} {
			_, err := srv.observer.Create(withDeadline(t), base+n.path, n.data)
			require.NoError(t, err)
		}

		d := srv.openDirectory(t, base)
		require.Len(t, d.Instances(), 1)
		require.Empty(t, d.Snapshot().Bad)
		all, err := discovery.NewServices(srv.observer, base, discovery.CuratorCodec())
		require.NoError(t, err)
		defer all.Close()
		require.NoError(t, all.WaitSynced(withDeadline(t)))
		require.Contains(t, all.Snapshot().Services(), "orders/eu")
		require.Len(t, all.Snapshot().Of("orders"), 1)
		require.Len(t, all.Snapshot().Of("orders/eu"), 1)

		_, err = java.ask(withDeadline(t), "discovery-query", "registry", "orders")
		require.ErrorContains(t, err, "Exception") // which one depends on the order of the nodes
		java.must(t, "discovery-cache", "registry", "orders")
		java.discovered(t, "a1=one", "c1=three", "x=nine")
	})
}

// An instance that is shut down while there is no connection is gone for both
// languages when there is one, and does not come back.
func TestOurInstanceIsShutDownInAnOutage(t *testing.T) {
	onEachCurator(t, func(t *testing.T, srv *testServer, start startFunc) {
		base, relay := lockPath(t), startMeter(t, srv.addr)
		client := (&testServer{addr: relay.addr()}).connect(t, longSession)
		ours := register(t, client, base, order("a1", "one"))
		register(t, srv.observer, base, order("stays", "three"))
		changes := readChanges(t, srv.openDirectory(t, base))
		requireChanges(t, changes, "added a1", "added stays", "synced")
		java := start(t, srv.addr, longSession)
		java.must(t, "discovery-open", "registry", base, "void", "compatible")
		java.must(t, "discovery-cache", "registry", "orders")
		events := java.discovered(t, "a1=one", "stays=three")

		relay.refuse(true)
		ended, cancel := context.WithCancel(withDeadline(t))
		cancel()
		require.ErrorIs(t, ours.Shutdown(ended), context.Canceled)
		exists, _, err := srv.observer.Exists(withDeadline(t), base+"/orders/a1")
		require.NoError(t, err)
		require.True(t, exists, "its session goes on")
		relay.refuse(false)
		require.NoError(t, ours.Shutdown(withDeadline(t)))
		requireChanges(t, changes, "removed a1")
		require.Equal(t, events+1, java.discovered(t, "stays=three"))

		register(t, client, base, order("b1", "two"))
		requireChanges(t, changes, "added b1")
		require.Equal(t, events+2, java.discovered(t, "b1=two", "stays=three"))
	})
}

// Our reader has no right to create, and the service is missing: it has no
// instances, until one comes. A cache of Java cannot be started.
func TestReaderWithoutTheRightToCreate(t *testing.T) {
	onEachCurator(t, func(t *testing.T, srv *testServer, start startFunc) {
		base := lockPath(t)
		owner := srv.connect(t, longSession, framework.WithAuth("digest", []byte("owner:secret")))
		acl := append(zk.DigestACL(zk.PermAll, "owner", "secret"), zk.WorldACL(zk.PermRead)...)
		_, err := owner.Create(withDeadline(t), base, nil, framework.WithACL(acl))
		require.NoError(t, err)

		d := srv.openDirectory(t, base)
		require.Empty(t, d.Instances())
		java := start(t, srv.addr, longSession)
		java.must(t, "discovery-open", "registry", base, "void", "compatible")
		_, err = java.ask(withDeadline(t), "discovery-cache", "registry", "orders")
		require.ErrorContains(t, err, "NoAuth")

		register(t, owner, base, order("a1", "one"))
		require.NoError(t, d.WaitInstances(withDeadline(t), 1))
		require.Len(t, java.must(t, "discovery-query", "registry", "orders"), 1)
	})
}
