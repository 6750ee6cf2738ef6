package barriers_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// Members that give up their Leave at the same moment cost a number of requests
// that grows with the number of members, and not with its square. Each closes
// its client at once. None is taken for lost, and nothing is left behind.
func TestMembersThatGiveUpTogether(t *testing.T) {
	for _, n := range thorough.Some(2, 10, 60, 200) {
		inVirtualTime(t, func(t *testing.T, w *world) {
			w.Fake.Inject(zktest.Rule{Times: -1, Do: zktest.DelayReply(5 * time.Millisecond)})
			clients := w.clients(t, n)
			p := w.enterAll(t, "/b", clients)
			time.Sleep(5 * time.Second)
			w.Fake.ClearRequests()
			ctx := recipetest.Within(t, time.Second)
			var left []*leaving
			for i := range n - 1 {
				left = append(left, leaveAndClose(ctx, p[i+1], clients[i+1]))
			}
			for _, l := range left {
				<-l.done
				require.ErrorIs(t, l.err, barriers.ErrNotLeft)
			}
			require.Less(t, time.Since(deadlineOf(ctx)), 500*time.Millisecond, "a Leave waits no longer for the servers")
			sent := len(w.Requests())
			t.Logf("%d members: %d requests", n, sent)
			require.Less(t, sent, 16*n)
			time.Sleep(time.Minute)
			require.NoError(t, context.Cause(p[0].Context()))
			require.Len(t, w.Fake.Children("/b"), 1)
			w.leaveAll(t, p[:1])
			w.NothingLeft(t, "/b")
		})
	}
}

// The member that is to end the round gives up. The next one knows from it who
// has left, waits for the others, and ends the round.
func TestNextMemberEndsTheRound(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.enterAll(t, "/b", w.clients(t, 4))
		settle()
		impatient := leaveLater(recipetest.Within(t, time.Minute), p[0])
		patient := []*leaving{leaveLater(w.Patience(t), p[1]), leaveLater(w.Patience(t), p[2])}
		<-impatient.done
		require.ErrorIs(t, impatient.err, barriers.ErrNotLeft)
		time.Sleep(time.Minute)
		for _, l := range patient {
			require.False(t, l.isOver())
		}
		require.NoError(t, context.Cause(p[3].Context()))
		w.leaveAll(t, p[3:])
		for _, l := range patient {
			<-l.done
			require.NoError(t, l.err)
		}
		w.NothingLeft(t, "/b")
	})
}

// A member is lost while others have left, and the one that is to end the round
// gives up at that moment. It does not note the one that is lost as one that has
// left: those who are inside learn of the loss.
func TestLossWhileAnotherOneGivesUp(t *testing.T) {
	for _, version := range []zktest.Version{zktest.Version393, zktest.Version3510} {
		recipetest.InVirtualTime(t, func(t *testing.T, virtual *recipetest.World) {
			lossWhileAnotherOneGivesUp(t, &world{virtual})
		}, zktest.WithVersion(version))
	}
}

func lossWhileAnotherOneGivesUp(t *testing.T, w *world) {
	clients := w.clients(t, 40) // of so many, each looks for losses after a pause
	p := w.enterAll(t, "/b", clients)
	time.Sleep(time.Second)
	ctx, giveUp := context.WithCancel(w.Patience(t))
	w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Session: clients[0].SessionID(), Do: zktest.CallAfter(func(zktest.Request) {
		require.NoError(t, w.Fake.Delete("/b/"+p[1].Name()))
	})})
	left := leaveLater(ctx, p[0])
	settle()
	giveUp()
	<-left.done
	time.Sleep(time.Minute)
	var lost *barriers.MemberLostError
	require.ErrorAs(t, context.Cause(p[2].Context()), &lost)
	require.Equal(t, []string{p[1].Name()}, lost.Members)
	w.leaveAll(t, p[2:])
}

func deadlineOf(ctx context.Context) time.Time {
	end, _ := ctx.Deadline()
	return end
}

func leaveAndClose(ctx context.Context, p *barriers.Passage, c *framework.Client) *leaving {
	l := &leaving{done: make(chan struct{})}
	go func() {
		defer close(l.done)
		l.err = p.Leave(ctx)
		c.Close()
	}()
	return l
}

// A round opens right before a member of another one resigns, so that the
// member tells by a node of its own that it does. Whatever happens to the
// creation of that node, it is not left behind, the round that was opened is
// not overwritten, and the member is not taken for lost.
func TestResignationThatIsBeaten(t *testing.T) {
	for name, fault := range map[string]func(*world) zktest.Action{
		"nothing else":        func(*world) zktest.Action { return zktest.DelayReply(0) },
		"the request is lost": func(*world) zktest.Action { return zktest.DropRequest() },
		"the answer is lost":  func(*world) zktest.Action { return zktest.DropReply() },
		"the answer is late":  func(*world) zktest.Action { return zktest.DelayReply(time.Second) },
		"it is late":          func(*world) zktest.Action { return zktest.DelayRequest(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				clients := w.clients(t, 4)
				first := w.enterAll(t, "/b", clients[:2])
				settle()
				pending := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[2], "/b", 2))
				settle()
				var last *entering
				w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: clients[0].SessionID(), Do: zktest.Call(func(zktest.Request) {
					last = enterLater(context.Background(), barriers.NewDoubleBarrier(clients[3], "/b", 2))
					<-last.done
				})})
				told := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/b/left-*", Do: fault(w)})
				require.ErrorIs(t, first[0].Leave(recipetest.Within(t, time.Second)), barriers.ErrNotLeft)
				time.Sleep(30 * time.Second)
				require.Equal(t, 1, told.Hits())
				require.NoError(t, context.Cause(first[1].Context()))
				second := []*barriers.Passage{pending.wait(t), last.wait(t)}
				require.Equal(t, second[0].Members(), second[1].Members())
				for _, p := range second {
					require.NoError(t, context.Cause(p.Context()))
				}
				require.False(t, slices.ContainsFunc(w.Fake.Children("/b"), func(name string) bool { return strings.HasPrefix(name, "left-") }))
				w.leaveAll(t, first[1:])
				w.leaveAll(t, second)
				w.NothingLeft(t, "/b")
			})
		})
	}
}
