//go:build real

package interop_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/nodes"
)

// awaitState reads changes of a node until one has the state.
func awaitState(t *testing.T, changes <-chan nodes.Change, want nodes.State) nodes.Change {
	t.Helper()
	ctx := withDeadline(t)
	for {
		select {
		case c := <-changes:
			if c.State == want {
				return c
			}
		case <-ctx.Done():
			t.Fatalf("the node has not become %v", want)
		}
	}
}

// changesOf returns the changes of a node, from now on.
func changesOf(t *testing.T, n *nodes.PersistentNode) <-chan nodes.Change {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	all, list := n.Changes(ctx), make(chan nodes.Change, 1000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c := range all {
			list <- c
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return list
}

// requireOwner requires that a node has these data and this owner.
func (srv *testServer) requireOwner(t *testing.T, path, data string, owner int64) {
	t.Helper()
	got, stat, err := srv.observer.Get(withDeadline(t), path)
	require.NoError(t, err)
	require.Equal(t, data, string(got))
	require.Equal(t, owner, stat.EphemeralOwner)
}

// Our node waits for Java's, leaves it alone, and takes over when it goes: when
// it is closed, and when its session is killed.
func TestOurNodeWaitsForJavas(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		java := startPeer(t, srv.addr, longSession)
		client := srv.connect(t, longSession)
		for _, end := range []string{"node-close", "kill-session"} {
			path := lockPath(t) + "/node"
			java.must(t, "node-keep", end, path, "theirs")
			_, stat, err := srv.observer.Get(withDeadline(t), path)
			require.NoError(t, err)

			n, err := nodes.NewPersistentNode(client, path, []byte("ours"))
			require.NoError(t, err)
			changes := changesOf(t, n)
			conflict := awaitState(t, changes, nodes.Conflict)
			var with *nodes.ConflictError
			require.ErrorAs(t, conflict.Err, &with)
			require.Equal(t, stat.EphemeralOwner, with.Session)
			srv.requireOwner(t, path, "theirs", with.Session)

			java.must(t, end, end)
			r, err := n.WaitRegistered(withDeadline(t))
			require.NoError(t, err)
			require.Greater(t, r.Czxid, with.Czxid)
			require.NoError(t, n.Set(withDeadline(t), []byte("ours")))
			require.NoError(t, n.Shutdown(withDeadline(t)))
		}
	})
}

// A PersistentNode of Java writes its data into ours, and deletes ours when it
// is closed. Ours has its data again, and comes back.
func TestJavasNodeTakesOursForItsOwn(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		java := startPeer(t, srv.addr, longSession)
		client := srv.connect(t, longSession)
		path := lockPath(t) + "/node"
		n, err := nodes.NewPersistentNode(client, path, []byte("ours"))
		require.NoError(t, err)
		changes := changesOf(t, n)
		awaitState(t, changes, nodes.Registered)
		java.must(t, "node-keep", "theirs", path, "theirs")
		awaitState(t, changes, nodes.Overwritten)
		require.NoError(t, n.Set(withDeadline(t), []byte("again"))) // returns when it is written
		srv.requireOwner(t, path, "again", client.SessionID())

		java.must(t, "node-close", "theirs")
		lost := awaitState(t, changes, nodes.Lost)
		require.ErrorIs(t, lost.Err, nodes.ErrNodeDeleted)
		awaitState(t, changes, nodes.Registered)
		srv.requireOwner(t, path, "again", client.SessionID())
		require.NoError(t, n.Shutdown(withDeadline(t)))
	})
}

// A group has members of both languages. Both see the same ones, with their
// payloads, as they join, update, lose their sessions and leave.
func TestGroupHasMembersOfBothLanguages(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		java := startPeer(t, srv.addr, longSession)
		helper := startPeer(t, srv.addr, longSession)
		tap := &interceptor{}
		client := srv.connect(t, longSession, framework.WithDialer(tap.dial))
		path := lockPath(t) + "/group"
		group := nodes.NewGroup(client, path)
		bothSee := func(want ...string) {
			t.Helper()
			command := []any{"node-members", "theirs", waitLimitMs}
			for _, member := range want {
				command = append(command, member)
			}
			java.must(t, command...)
			awaitMembers(t, group, want...)
		}
		java.must(t, "node-join", "theirs", path, "t", "1")
		awaitMembers(t, group, "t=1")
		member, err := group.Join(withDeadline(t), "o", []byte("2"))
		require.NoError(t, err)
		bothSee("o=2", "t=1")
		require.NoError(t, member.Update(withDeadline(t), []byte("3")))
		bothSee("o=3", "t=1")

		_, err = group.Join(withDeadline(t), "o", nil)
		require.ErrorIs(t, err, nodes.ErrInUse)
		id, password := tap.session(t)
		helper.must(t, "kill-session", id, password)
		bothSee("o=3", "t=1")
		java.must(t, "kill-session")
		bothSee("o=3", "t=1")

		require.NoError(t, member.Leave(withDeadline(t)))
		bothSee("t=1")
		member, err = group.Join(withDeadline(t), "o", []byte("4"))
		require.NoError(t, err)
		java.must(t, "node-leave", "theirs")
		awaitMembers(t, group, "o=4")
		require.NoError(t, member.Leave(withDeadline(t)))
	})
}

// awaitMembers waits until a group has these members, as ID=PAYLOAD.
func awaitMembers(t *testing.T, g *nodes.Group, want ...string) {
	t.Helper()
	var got []string
	for view, err := range g.Changes(withDeadline(t)) {
		require.NoError(t, err)
		got = nil
		for _, m := range view.Members {
			got = append(got, m.ID+"="+string(m.Payload))
		}
		if slices.Equal(got, want) {
			return
		}
	}
	require.Equal(t, want, got)
}
