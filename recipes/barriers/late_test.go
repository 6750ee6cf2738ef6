package barriers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// The request for a member's node arrives when the others have entered, and have left
// again. The opening that the member has seen was theirs: the member waits.
//
// Promise: An opening before a member's node was created does not let the member pass.
func TestMemberWhoseNodeComesAfterTheRound(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/b", nil))
		clients := w.clients(t, 3)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Session: clients[0].SessionID(), Do: zktest.DelayRequest(time.Second)})
		slow := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[0], "/b", 2))
		settle()
		w.leaveAll(t, w.enterAll(t, "/b", clients[1:]))
		time.Sleep(time.Minute)
		require.False(t, slow.isOver(), "it has passed alone")
		other := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[1], "/b", 2))
		w.leaveAll(t, []*barriers.Passage{slow.wait(t), other.wait(t)})
		w.NothingLeft(t, "/b")
	})
}

// The reply to a member's create is lost. While the member is disconnected, the other
// member enters, and deletes its node when it leaves. The node that opens the barrier
// is younger than the first member's node. So the first member enters, and no member
// waits for it forever.
//
// Promise: A member that is disconnected while the barrier opens enters when it is
// connected again.
func TestMemberThatIsDisconnectedWhileTheBarrierOpens(t *testing.T) {
	for name, patience := range map[string]time.Duration{"the other waits": time.Hour, "the other gives up": time.Second} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				require.NoError(t, w.Fake.Create("/b", nil))
				c, network := w.Connect(t)
				other, _ := w.Connect(t)
				w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Session: c.SessionID(), Do: zktest.All(
					zktest.Call(func(zktest.Request) { network.Refuse(true) }), zktest.DropReply())})
				away := enterLater(w.Patience(t), barriers.NewDoubleBarrier(c, "/b", 2))
				settle()
				passage := enterLater(w.Patience(t), barriers.NewDoubleBarrier(other, "/b", 2)).wait(t)
				left := leaveLater(recipetest.Within(t, patience), passage)
				time.Sleep(2 * time.Second)
				network.Refuse(false)
				w.leaveAll(t, []*barriers.Passage{away.wait(t)})
				<-left.done
				w.NothingLeft(t, "/b")
			})
		})
	}
}

// A member gives up when it has asked for the opening, after the others have given up.
// It leaves no opening behind, by which a Java member would pass alone.
//
// Promise: A member that gives up while it opens the barrier leaves no ready node behind.
func TestMemberThatGivesUpWhileItOpens(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/b/ready", Do: zktest.DelayRequest(3 * time.Second)})
		first := enterLater(recipetest.Within(t, time.Second), barriers.NewDoubleBarrier(clients[0], "/b", 2))
		settle()
		second := enterLater(recipetest.Within(t, 2*time.Second), barriers.NewDoubleBarrier(clients[1], "/b", 2))
		for _, e := range []*entering{first, second} {
			<-e.done
			require.ErrorIs(t, e.err, barriers.ErrNotEntered)
		}
		time.Sleep(time.Minute)
		require.Empty(t, w.Fake.Children("/b"))
	})
}

// enterSlowly begins to enter a barrier of two. The member's node is created a second
// later, and the member sees who is inside after some more time.
func (w *world) enterSlowly(ctx context.Context, c *framework.Client, sees time.Duration) *entering {
	for op, late := range map[zktest.Op]time.Duration{zktest.OpCreate: time.Second, zktest.OpSync: sees} {
		w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Session: c.SessionID(), Do: zktest.DelayRequest(late)})
	}
	slow := enterLater(ctx, barriers.NewDoubleBarrier(c, "/b", 2))
	settle()
	return slow
}

// A third member's node is created after the first member has begun to leave, and before
// the second one does, which waits for the third. The first member leaves before the third
// one has seen who is inside. The barrier stays open for the third member.
//
// Promise: A member that leaves does not close the barrier for a member that others wait for.
func TestMemberWhoseNodeComesBetweenTwoLeaves(t *testing.T) {
	for i := range 8 { // the order of the members' names decides who would close the barrier
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				require.NoError(t, w.Fake.Create("/b", nil))
				clients := w.clients(t, 3)
				third := w.enterSlowly(w.Patience(t), clients[2], 3*time.Second)
				passages := w.enterAll(t, "/b", clients[:2])
				first := leaveLater(w.Patience(t), passages[0])
				time.Sleep(1500 * time.Millisecond)
				second := leaveLater(w.Patience(t), passages[1])
				w.leaveAll(t, []*barriers.Passage{third.wait(t)})
				for _, l := range []*leaving{first, second} {
					<-l.done
					require.NoError(t, l.err)
				}
				w.NothingLeft(t, "/b")
			})
		})
	}
}

// Both members inside leave while the node of a third one is there. The third member gives
// up before it has seen who is inside, and leaves no opening behind, by which a Java
// member would pass alone.
//
// Promise: A member that gives up its Enter when the others have left leaves no ready node behind.
func TestMemberThatGivesUpAfterTheOthersHaveLeft(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/b", nil))
		clients := w.clients(t, 3)
		third := w.enterSlowly(recipetest.Within(t, 4*time.Second), clients[2], 10*time.Second)
		passages := w.enterAll(t, "/b", clients[:2])
		for _, c := range clients[:2] { // both have listed the members before the third node is there
			w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Session: c.SessionID(), Do: zktest.DelayRequest(2 * time.Second)})
		}
		w.leaveAll(t, passages)
		<-third.done
		require.ErrorIs(t, third.err, barriers.ErrNotEntered)
		time.Sleep(time.Minute)
		require.Empty(t, w.Fake.Children("/b"))
	})
}

// A member opens the barrier, and its connection is lost before the member learns of that.
// While the member is disconnected, the other one enters and leaves again. The member
// enters when it is connected again: the other one took it to be inside.
//
// Promise: A member that has seen n members enters, even if the reply to its opening is lost.
func TestMemberThatLosesTheReplyToItsOpening(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		other, _ := w.Connect(t)
		entered := enterLater(w.Patience(t), barriers.NewDoubleBarrier(other, "/b", 2))
		settle()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/b/ready", Do: zktest.Call(func(zktest.Request) {
			network.Refuse(true)
			network.Cut()
		})})
		away := enterLater(w.Patience(t), barriers.NewDoubleBarrier(c, "/b", 2))
		left := leaveLater(recipetest.Within(t, time.Second), entered.wait(t))
		<-left.done
		require.ErrorIs(t, left.err, barriers.ErrNotLeft)
		time.Sleep(time.Second)
		require.NoError(t, w.Fake.Delete("/b/ready"))
		network.Refuse(false)
		w.leaveAll(t, []*barriers.Passage{away.wait(t)})
		w.NothingLeft(t, "/b")
	})
}
