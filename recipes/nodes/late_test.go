package nodes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// A server stalls with a request of a session that the client loses meanwhile. The
// client has replaced its node in the next session, and has written to it, when the
// request is carried out.
//
// Promise: A late request of a lost session changes no later node of the client.
func TestLateRequestOfALostSessionMissesTheNextNode(t *testing.T) {
	for name, op := range map[string]zktest.Op{"write": zktest.OpSetData, "replacement": zktest.OpMulti} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				n, seen := startFollowed(t, c, "/a", "zero")
				w.ready(t, n)
				require.NoError(t, n.Set(w.Patience(t), []byte("one")))
				lose := zktest.Call(func(zktest.Request) { zkinside.Of(w.Fake).ReplaceSession(c.SessionID()) })
				late := w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Path: "/a", Do: zktest.All(lose, zkinside.HoldRequest(time.Second).(zktest.Action))})
				if op == zktest.OpMulti {
					zkinside.Of(w.Fake).ReplaceSession(c.SessionID())
					w.Fake.CutAll()
				}
				require.NoError(t, n.Set(w.Patience(t), []byte("two")))
				require.Equal(t, 1, late.Hits())
				late.Remove()
				require.NoError(t, n.Set(w.Patience(t), []byte("three")))
				held := w.ready(t, n)
				synctest.Wait() // until the follower has read the changes
				before := states(seen())
				time.Sleep(10 * time.Second)
				require.Equal(t, before, states(seen()))
				require.Equal(t, held, w.ready(t, n))
				require.Equal(t, "three", w.dataOf("/a"))
			})
		})
	}
}

// A server stalls with the delete of a Shutdown, and the client loses the session
// meanwhile. The late delete would hit the next node at the path if the client deleted
// its node in the next session.
//
// Promise: A late delete of a lost session deletes no later node at the path.
func TestLateDeleteOfALostSessionMissesTheNextNode(t *testing.T) {
	for name, mode := range map[string]framework.Mode{"ephemeral": framework.Ephemeral, "persistent": framework.Persistent} {
		for of, sameClient := range map[string]bool{"the client's": true, "another client's": false} {
			t.Run(name+", "+of, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					c, _ := w.Connect(t)
					next := c
					if !sameClient {
						next, _ = w.Connect(t)
					}
					n := start(t, c, "/a", "first", nodes.WithMode(mode))
					session := w.ready(t, n).Session
					settle()
					late := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Path: "/a", Do: zktest.All(
						zktest.Call(func(zktest.Request) { zkinside.Of(w.Fake).ReplaceSession(session.ID()) }),
						zkinside.HoldRequest(w.Session/2).(zktest.Action))})
					shutdown := make(chan error, 1)
					go func() { shutdown <- n.Shutdown(context.Background()) }()
					<-late.Done()
					<-session.Context().Done()
					w.awaitNode(t, "/a", false)
					second, seen := startFollowed(t, next, "/a", "second", nodes.WithMode(mode))
					w.ready(t, second)
					time.Sleep(10 * w.Session)
					synctest.Wait()
					require.Equal(t, []nodes.State{nodes.Registered}, states(seen()))
					require.Equal(t, "second", w.dataOf("/a"))
					<-shutdown
				})
			})
		}
	}
}

// The server applies the delete of a Shutdown, but the reply is lost. Another client
// creates a node at the path before the Shutdown reads the path again.
//
// Promise: Shutdown of a persistent node deletes no later node at the path.
func TestShutdownLeavesTheNextNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := start(t, c, "/a", "first", nodes.WithMode(framework.Persistent))
		w.ready(t, n)
		settle()
		next := zktest.CallAfter(func(zktest.Request) { require.NoError(t, w.Fake.Create("/a", []byte("second"))) })
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Path: "/a", Do: zktest.All(zktest.DropReply(), next)})
		require.NoError(t, n.Shutdown(w.Patience(t)))
		require.Equal(t, "second", w.dataOf("/a"))
	})
}

// The reply to the create is lost, and a Set brings other data. The write of that data is
// lost, too, before a server carries it out, and the program shuts the node down.
//
// Promise: Shutdown deletes a persistent node, whichever of its first requests was applied.
func TestShutdownKnowsTheDataOfEachLostRequest(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		refuse := zktest.Call(func(zktest.Request) { network.Refuse(true) })
		created := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/a", Do: zktest.All(refuse, zktest.DropReply())})
		written := w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Path: "/a", Do: zktest.All(refuse, zktest.DropRequest())})
		n := start(t, c, "/a", "first", nodes.WithMode(framework.Persistent))
		<-created.Done()
		set, shutdown := make(chan error, 1), make(chan error, 1)
		synctest.Wait()
		go func() { set <- n.Set(w.Patience(t), []byte("second")) }()
		synctest.Wait()
		network.Refuse(false)
		<-written.Done()
		synctest.Wait()
		require.Equal(t, "first", w.dataOf("/a"))
		go func() { shutdown <- n.Shutdown(w.Patience(t)) }()
		require.ErrorIs(t, <-set, nodes.ErrClosed)
		network.Refuse(false)
		require.NoError(t, <-shutdown)
		require.Equal(t, "-", w.dataOf("/a"))
	})
}
