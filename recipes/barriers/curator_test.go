package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// curatorBarrier is a double barrier in Curator's layout.
func curatorBarrier(c *framework.Client, n int) *barriers.DoubleBarrier {
	return barriers.NewDoubleBarrier(c, "/b", n, barriers.WithCuratorLayout())
}

// A crash has left the node that opens the barrier. A lone member does not pass
// because of it.
//
// Promise: In Curator's layout, a ready node that a crash left behind lets no member pass.
func TestStaleReadyIsNotAnOpening(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/b", nil))
		require.NoError(t, w.Fake.Create("/b/ready", nil))
		clients := w.clients(t, 2)
		first := enterLater(w.Patience(t), curatorBarrier(clients[0], 2))
		time.Sleep(time.Minute)
		require.False(t, first.isOver())
		second := enterLater(w.Patience(t), curatorBarrier(clients[1], 2))
		w.leaveAll(t, []*barriers.Passage{first.wait(t), second.wait(t)})
		w.NothingLeft(t, "/b")
	})
}

// Two members find such a node at the same time. One deletes it, and waits. The
// other one then sees a member and takes it for one that is inside, unless it
// looks again.
func TestStaleReadyThatTwoMembersFind(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/b", nil))
		require.NoError(t, w.Fake.Create("/b/ready", nil))
		clients := w.clients(t, 3)
		w.Fake.Inject(zktest.Rule{
			Op: zktest.OpGetChildren, Session: clients[0].SessionID(), Do: zktest.DelayRequest(time.Second),
		})
		slow := enterLater(w.Patience(t), curatorBarrier(clients[0], 3))
		settle()
		other := enterLater(w.Patience(t), curatorBarrier(clients[1], 3))
		time.Sleep(time.Minute)
		require.False(t, slow.isOver())
		require.False(t, other.isOver())
		last := enterLater(w.Patience(t), curatorBarrier(clients[2], 3))
		w.leaveAll(t, []*barriers.Passage{slow.wait(t), other.wait(t), last.wait(t)})
		w.NothingLeft(t, "/b")
	})
}

// All members crash inside. The node that opens the barrier goes with the
// session of the one that made it.
func TestReadyEndsWithItsSession(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		w.enterAll(t, "/b", clients, barriers.WithCuratorLayout())
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
// Promise: In Curator's layout, the last member that gives up Leave deletes the ready node.
func TestReadyGoesWhenAllGiveUpTheirLeave(t *testing.T) {
	for _, atOnce := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			clients := w.clients(t, 3)
			passages := w.enterAll(t, "/b", clients, barriers.WithCuratorLayout())
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

// An operator deletes the node of a member that waits. The member makes another
// one, and so it passes with the next that comes.
//
// Promise: In Curator's layout, a waiting member notices that its node was deleted.
func TestNodeInCuratorsLayoutThatAnOperatorDeletes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		first := enterLater(w.Patience(t), curatorBarrier(clients[0], 2))
		time.Sleep(2 * time.Second) // it watches its node by now
		before := w.Fake.Children("/b")
		require.Len(t, before, 1)
		require.NoError(t, w.Fake.Delete("/b/"+before[0]))
		settle()
		after := w.Fake.Children("/b")
		require.Len(t, after, 1)
		require.NotEqual(t, before, after)
		second := enterLater(w.Patience(t), curatorBarrier(clients[1], 2))
		w.leaveAll(t, []*barriers.Passage{first.wait(t), second.wait(t)})
		w.NothingLeft(t, "/b")
	})
}

// A member that comes while others are inside passes at once, as in Java. All
// of them leave together.
func TestLateMemberInCuratorsLayout(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 3)
		passages := w.enterAll(t, "/b", clients[:2], barriers.WithCuratorLayout())
		late := enterLater(w.Patience(t), curatorBarrier(clients[2], 2)).wait(t)
		require.Nil(t, late.Members())
		left := leaveLater(w.Patience(t), passages[0])
		time.Sleep(time.Minute)
		require.False(t, left.isOver())
		w.leaveAll(t, []*barriers.Passage{passages[1], late})
		<-left.done
		require.NoError(t, left.err)
		w.NothingLeft(t, "/b")
	})
}

// A member hears late that the barrier has opened, when all others want to
// leave. It passes all the same, and they leave together.
func TestSlowMemberInCuratorsLayout(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		host := w.Fake.NewHost()
		c, err := framework.New(w.Addr, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(w.Session))
		require.NoError(t, err)
		defer c.Close()
		slow := enterLater(w.Patience(t), curatorBarrier(c, 3))
		settle()
		host.Isolate()
		clients := w.clients(t, 2)
		var pending []*entering
		for _, c := range clients {
			pending = append(pending, enterLater(w.Patience(t), curatorBarrier(c, 3)))
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
