package nodes_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// A node is there from WaitRegistered to Shutdown, with its data, and Shutdown
// leaves neither node nor watch.
func TestNodeIsThereUntilShutdown(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		path := recipetest.Path(t) + "/a/b"
		n := start(t, c, path, "one")
		r := w.ready(t, n)
		require.Equal(t, path, r.Path)
		require.Equal(t, c.SessionID(), r.Session.ID())
		require.Equal(t, "one", w.data(t, path))
		require.NoError(t, n.Set(w.Patience(t), []byte("two")))
		require.Equal(t, "two", w.data(t, path))
		again, there := n.Registration()
		require.True(t, there)
		require.Equal(t, r.Czxid, again.Czxid)

		require.NoError(t, n.Shutdown(w.Patience(t)))
		w.awaitNode(t, path, false)
		_, there = n.Registration()
		require.False(t, there)
		require.NoError(t, n.Shutdown(w.Patience(t)), "again")
		require.ErrorIs(t, n.Err(), nodes.ErrClosed)
		require.ErrorIs(t, n.Set(w.Patience(t), nil), nodes.ErrClosed)
		_, err := n.WaitRegistered(w.Patience(t))
		require.ErrorIs(t, err, nodes.ErrClosed)
		w.NoWatches(t)
	})
}

// The client gives its session up before the server does. The server still has
// the node of the lost session when the next one begins: it is replaced in one
// transaction, so that there is never no node, nor two.
//
// Promise: An ephemeral node of a former session is replaced and not adopted (CURATOR-97).
func TestLingeringNodeOfAFormerSessionIsReplaced(t *testing.T) {
	for _, opts := range [][]nodes.Option{nil, {nodes.WithProtection()}, {nodes.WithMode(framework.EphemeralSequential)}} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.Connect(t)
			n := start(t, c, "/m/a", "data", opts...)
			before := w.ready(t, n)
			zkinside.Of(w.Fake).PauseSession(before.Session.ID()) // for the server it goes on for a while
			<-before.Session.Context().Done()
			lost := time.Now()
			after := w.ready(t, n)
			require.Less(t, time.Since(lost), 10*time.Millisecond, "long before the server ends the session")
			require.Equal(t, before.Path, after.Path)
			require.Equal(t, after.Session.ID(), w.ownerOf(after.Path))
			require.Equal(t, "data", w.dataOf(after.Path))
			require.Len(t, w.Fake.Children("/m"), 1)
			time.Sleep(time.Minute) // the old session ends
			require.Equal(t, after.Session.ID(), w.ownerOf(after.Path))
			require.NoError(t, n.Shutdown(w.Patience(t)))
			require.Empty(t, w.Fake.Children("/m"))
		})
	}
}

// An interruption that the session survives does nothing.
func TestInterruptionLeavesTheNodeAlone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		n, seen := startFollowed(t, c, "/a", "data")
		r := w.ready(t, n)
		network.Cut()
		settle()
		require.Equal(t, r, w.ready(t, n))
		require.Equal(t, []nodes.State{nodes.Registered}, states(seen()))
		require.NoError(t, n.Set(t.Context(), []byte("new")))
		require.Equal(t, "new", w.dataOf("/a"))
		require.NoError(t, n.Shutdown(t.Context()))
	})
}

// A node that somebody deletes comes back at once. If somebody deletes it again
// and again, the pauses grow.
func TestDeletedNodeComesBack(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		path := recipetest.Path(t)
		n := start(t, c, path, "data")
		before := w.ready(t, n)
		changes := n.Changes(w.Patience(t))
		require.NoError(t, w.Observer.Delete(w.Patience(t), path, framework.AnyVersion))
		var seen []nodes.Change
		for change, err := range changes {
			require.NoError(t, err)
			if seen = append(seen, change); len(seen) == 3 {
				break
			}
		}
		require.Equal(t, []nodes.State{nodes.Registered, nodes.Lost, nodes.Registered}, states(seen))
		require.Equal(t, before.Czxid, seen[0].Czxid, "it is how things stand")
		require.ErrorIs(t, seen[1].Err, nodes.ErrNodeDeleted)
		require.Greater(t, seen[2].Czxid, before.Czxid)
	})
}

// Data that somebody else has written is replaced by ours.
func TestForeignDataIsRestored(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n, seen := startFollowed(t, c, "/a", "ours")
		w.ready(t, n)
		synctest.Wait()
		require.NoError(t, w.Fake.Set("/a", []byte("theirs")))
		settle()
		require.Equal(t, "ours", w.dataOf("/a"))
		require.Equal(t, []nodes.State{nodes.Registered, nodes.Overwritten}, states(seen()))
		require.NoError(t, n.Set(t.Context(), []byte("new")))
		require.Equal(t, "new", w.dataOf("/a"))
		w.Fake.Session(c.SessionID()).Expire()
		settle()
		require.Equal(t, "new", w.dataOf("/a"))
		require.NoError(t, n.Shutdown(t.Context()))
	})
}

// Data that is set while there is no node becomes the data of the next node. A Set
// whose context ends says what it has waited for, and the data arrives later.
func TestSetDuringAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		n := start(t, c, "/a", "old")
		w.ready(t, n)
		network.Refuse(true)
		network.Cut()
		err := n.Set(recipetest.Within(t, time.Second), []byte("new"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, framework.ErrNotConnected)
		time.Sleep(time.Minute)
		_, err = n.WaitRegistered(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, framework.ErrNotConnected)
		_, there := n.Registration()
		require.False(t, there)
		network.Refuse(false)
		w.ready(t, n)
		require.Equal(t, "new", w.dataOf("/a"))
		require.NoError(t, n.Shutdown(t.Context()))
	})
}

// Data that the client refuses for its size is an error of Set alone: the node
// goes on with the data that it had, also in the next session.
func TestRefusedDataIsTheErrorOfSet(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		n := start(t, c, "/a", "good")
		w.ready(t, n)
		huge := []byte(strings.Repeat("x", 2<<20))
		require.ErrorIs(t, n.Set(t.Context(), huge), framework.ErrRequestTooLarge)
		require.Equal(t, "good", w.dataOf("/a"))
		require.Equal(t, "good", string(n.Data()))
		network.Refuse(true)
		network.Cut()
		time.Sleep(time.Minute)
		got := make(chan error)
		go func() { got <- n.Set(w.Patience(t), huge) }()
		synctest.Wait()
		network.Refuse(false)
		require.ErrorIs(t, <-got, framework.ErrRequestTooLarge)
		w.ready(t, n)
		require.Equal(t, "good", w.dataOf("/a"))
		require.NoError(t, n.Set(t.Context(), []byte("better")))
		require.NoError(t, n.Err())
		require.NoError(t, n.Shutdown(t.Context()))
	})
}

// An applied write whose reply was lost is not reported as another client's write: the
// owner knows the version that the write has left.
func TestOwnWriteWhoseReplyIsLostOverwritesNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n, seen := startFollowed(t, c, "/a", "old")
		w.ready(t, n)
		lost := w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Path: "/a", Do: zktest.DropReply()})
		require.NoError(t, n.Set(w.Patience(t), []byte("new")))
		require.Equal(t, 1, lost.Hits())
		settle()
		require.Equal(t, "new", w.dataOf("/a"))
		require.Equal(t, []nodes.State{nodes.Registered}, states(seen()))
	})
}

// A node that is not ephemeral does not go with its session. If it is gone behind
// the loss of the session, somebody has deleted it.
//
// Promise: The end of a session does not report a node as lost that is not ephemeral.
func TestSessionDoesNotTakeANodeThatIsNotEphemeral(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		n, seen := startFollowed(t, c, "/a", "ours", nodes.WithMode(framework.Persistent))
		session := w.ready(t, n).Session
		synctest.Wait()
		network.Refuse(true)
		network.Cut()
		require.NoError(t, w.Fake.Delete("/a"))
		<-session.Context().Done()
		network.Refuse(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []nodes.State{nodes.Registered, nodes.Lost, nodes.Registered}, states(seen()))
		require.ErrorIs(t, seen()[1].Err, nodes.ErrNodeDeleted)
		require.NotErrorIs(t, seen()[1].Err, framework.ErrSessionLost)
	})
}
