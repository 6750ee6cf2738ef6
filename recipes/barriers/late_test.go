package barriers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
// one enters, and deletes its node when it leaves. The node that opens the barrier is
// younger than the member's own: the member enters, and nobody waits for it in vain.
//
// Promise: A member that is disconnected while the barrier opens enters when it is connected again.
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
