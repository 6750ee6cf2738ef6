package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// A crash has left the node that opens the barrier. A lone member does not pass
// because of it.
//
// Promise: A ready node that a crash left behind lets no member pass.
func TestStaleReadyIsNotAnOpening(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/b", nil))
		require.NoError(t, w.Fake.Create("/b/ready", nil))
		clients := w.clients(t, 2)
		first := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[0], "/b", 2))
		time.Sleep(time.Minute)
		require.False(t, first.isOver())
		second := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[1], "/b", 2))
		w.leaveAll(t, []*barriers.Passage{first.wait(t), second.wait(t)})
		w.NothingLeft(t, "/b")
	})
}

// All members crash inside. The node that opens the barrier ends with the session of
// the member that created it.
func TestReadyEndsWithItsSession(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		w.enterAll(t, "/b", clients)
		require.Contains(t, w.Fake.Children("/b"), "ready")
		for _, c := range clients {
			c.Close()
		}
		settle()
		require.Empty(t, w.Fake.Children("/b"))
	})
}

// All members give up their Leave, one after the other or at the same time.
// They leave nothing behind.
//
// Promise: The last member that gives up Leave deletes the ready node.
func TestReadyGoesWhenAllGiveUpTheirLeave(t *testing.T) {
	for _, atOnce := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			clients := w.clients(t, 3)
			passages := w.enterAll(t, "/b", clients)
			over, cancel := context.WithCancel(t.Context())
			cancel()
			var left []*leaving
			for _, p := range passages {
				left = append(left, leaveLater(over, p))
				if !atOnce {
					settle()
				}
			}
			for _, l := range left {
				<-l.done
				require.ErrorIs(t, l.err, barriers.ErrNotLeft)
			}
			settle()
			w.NothingLeft(t, "/b")
			require.NotContains(t, w.Fake.Children("/b"), "ready")
		})
	}
}

// An operator deletes the node of a member that waits. The member makes it
// again, and so it passes with the next that comes.
//
// Promise: A waiting member notices that its node was deleted.
func TestNodeOfAWaitingMemberThatAnOperatorDeletes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		first := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[0], "/b", 2))
		time.Sleep(2 * time.Second) // it watches its node by now
		before := w.Fake.Children("/b")
		require.Len(t, before, 1)
		require.NoError(t, w.Fake.Delete("/b/"+before[0]))
		settle()
		after := w.Fake.Children("/b")
		require.Equal(t, before, after, "it is back")
		second := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[1], "/b", 2))
		w.leaveAll(t, []*barriers.Passage{first.wait(t), second.wait(t)})
		w.NothingLeft(t, "/b")
	})
}

// A member hears late that the barrier has opened, when all others want to
// leave. It passes all the same, and they leave together.
func TestSlowMember(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		host := w.Fake.NewHost()
		c, err := framework.New(w.Addr, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(w.Session))
		require.NoError(t, err)
		defer c.Close()
		slow := enterLater(w.Patience(t), barriers.NewDoubleBarrier(c, "/b", 3))
		settle()
		host.Isolate()
		clients := w.clients(t, 2)
		var pending []*entering
		for _, c := range clients {
			pending = append(pending, enterLater(w.Patience(t), barriers.NewDoubleBarrier(c, "/b", 3)))
		}
		var left []*leaving
		for _, p := range pending {
			left = append(left, leaveLater(w.Patience(t), p.wait(t)))
		}
		settle()
		require.False(t, slow.isOver())
		host.Heal()
		w.leaveAll(t, []*barriers.Passage{slow.wait(t)})
		for _, l := range left {
			<-l.done
			require.NoError(t, l.err)
		}
		w.NothingLeft(t, "/b")
	})
}

// The request for a member's node arrives when its client has another session, in
// which the member has created its node. It is one member still, and does not pass
// when it looks again, in a third session.
func TestMemberWhoseCreateIsAppliedLateIsOne(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/b", nil))
		client, network := w.Connect(t)
		session := client.SessionID()
		w.Fake.Inject(zktest.Rule{
			Op: zktest.OpCreate, Session: session,
			Do: zktest.All(zktest.Call(func(zktest.Request) { zkinside.Of(w.Fake).ReplaceSession(session) }), zkinside.HoldRequest(time.Second).(zktest.Action)),
		})
		lone := enterLater(w.Patience(t), barriers.NewDoubleBarrier(client, "/b", 2))
		time.Sleep(2 * time.Second)
		require.NotEqual(t, session, client.SessionID())
		require.Len(t, w.Fake.Children("/b"), 1, "both creates are of the same node")
		zkinside.Of(w.Fake).ReplaceSession(client.SessionID())
		network.Cut()
		time.Sleep(time.Minute)
		require.False(t, lone.isOver(), "it has passed alone")
		require.Len(t, w.Fake.Children("/b"), 1)
	})
}

// The session of a member that waits is lost here, and alive at the servers. Its
// node counts until that session ends, and then the member's new node does.
//
// Promise: A member with a node of its lost session counts once.
func TestNodeOfALostSessionIsTheMembers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		client, network := w.Connect(t)
		lone := enterLater(w.Patience(t), barriers.NewDoubleBarrier(client, "/b", 2))
		settle()
		session := client.SessionID()
		zkinside.Of(w.Fake).ReplaceSession(session)
		network.Cut()
		settle()
		require.NoError(t, client.WaitConnected(w.Patience(t)))
		require.NotEqual(t, session, client.SessionID())
		require.Equal(t, []string{w.Fake.Children("/b")[0]}, w.Fake.Children("/b"))
		time.Sleep(2 * w.Session)
		names := w.Fake.Children("/b")
		require.Len(t, names, 1)
		node, _ := w.Fake.Node("/b/" + names[0])
		require.Equal(t, client.SessionID(), node.Stat.EphemeralOwner)
		require.False(t, lone.isOver(), "it has passed alone")
		other := w.clients(t, 1)[0]
		second := enterLater(w.Patience(t), barriers.NewDoubleBarrier(other, "/b", 2))
		w.leaveAll(t, []*barriers.Passage{lone.wait(t), second.wait(t)})
		w.NothingLeft(t, "/b")
	})
}

// The last member opens the barrier, and is cut off before the reply. When it is back,
// the first one has gone through and has left. The last one enters all the same.
//
// Promise: A member that has seen n members enters, even if the reply to its opening is lost.
func TestMemberThatIsCutOffWhenItOpens(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		first := enterLater(w.Patience(t), barriers.NewDoubleBarrier(w.Observer, "/b", 2))
		settle()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/b/ready", Do: zktest.All(
			zktest.Call(func(zktest.Request) { network.Refuse(true); network.Cut() }), zktest.DropReply())})
		last := enterLater(w.Patience(t), barriers.NewDoubleBarrier(c, "/b", 2))
		over, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, first.wait(t).Leave(over), barriers.ErrNotLeft)
		require.False(t, last.isOver())
		network.Refuse(false)
		w.leaveAll(t, []*barriers.Passage{last.wait(t)})
		w.NothingLeft(t, "/b")
	})
}

// Others make the node of an opening as soon as it is deleted, that is of no round.
// The member looks again at once the first time, and after pauses then.
func TestMemberThatIsBeatenTimeAndAgainPauses(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/b", nil))
		require.NoError(t, w.Fake.Create("/b/ready", nil))
		c, _ := w.Connect(t)
		beats := w.Fake.Inject(zktest.Rule{
			Op: zktest.OpDelete, Path: "/b/ready", Times: 1000,
			Do: zktest.CallAfter(func(zktest.Request) { _ = w.Fake.Create("/b/ready", nil) }),
		})
		time.AfterFunc(30*time.Second, beats.Remove)
		p, err := barriers.NewDoubleBarrier(c, "/b", 1).Enter(w.Patience(t))
		require.NoError(t, err)
		require.Greater(t, beats.Hits(), 5)
		require.Less(t, beats.Hits(), 50)
		require.NoError(t, p.Leave(w.Patience(t)))
	})
}

// A Java member has the same name in each round. One leaves and comes back between
// two looks of a Leave, which does not take its new node for the old one. The
// names of nodes begin with "0" and "z": the Java member is the first of both, or
// the last.
//
// Promise: Leave does not wait for a Java member that has left and entered again.
func TestJavaMemberThatComesBackAtOnce(t *testing.T) {
	for _, java := range []string{"/b/0", "/b/zz"} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.Connect(t)
			w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/b/*", Do: zktest.Call(func(zktest.Request) {
				_ = w.Fake.Create(java, nil)
			})})
			require.NoError(t, w.Fake.Create("/b", nil))
			p, err := barriers.NewDoubleBarrier(c, "/b", 2).Enter(w.Patience(t))
			require.NoError(t, err)
			left := leaveLater(w.Patience(t), p)
			settle()
			require.False(t, left.isOver())
			w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren, Session: c.SessionID(), Do: zktest.Call(func(zktest.Request) {
				_ = w.Fake.Delete("/b/ready") // every Java member that leaves deletes it
				_ = w.Fake.Create(java, nil)
			})})
			require.NoError(t, w.Fake.Delete(java))
			<-left.done
			require.NoError(t, left.err)
			require.Equal(t, []string{java[len("/b/"):]}, w.Fake.Children("/b"))
		})
	}
}
