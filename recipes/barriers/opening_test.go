package barriers_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// A member dies when another one has seen it and is about to open the barrier.
// The barrier stays closed until there are enough members again.
func TestMemberThatDiesRightBeforeTheOpening(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		check := newChecker(t, w.Fake, "/b", 2)
		clients := w.clients(t, 3)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.Call(func(zktest.Request) {
			w.Fake.Session(clients[0].SessionID()).Expire()
		})})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: zktest.Blackhole()}) // the dead do not come back
		dead := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[0], "/b", 2))
		settle()
		second := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[1], "/b", 2))
		time.Sleep(time.Minute)
		require.False(t, second.isOver())
		require.Zero(t, check.seen)
		third := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[2], "/b", 2))
		w.leaveAll(t, []*barriers.Passage{second.wait(t), third.wait(t)})
		require.False(t, dead.isOver())
		clients[0].Close()
		<-dead.done
		require.Error(t, dead.err)
		w.NothingLeft(t, "/b")
	})
}

// The last member dies when it has come, before it has opened the barrier. The
// next one that comes opens it.
func TestLastMemberDiesBeforeItOpens(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		newChecker(t, w.Fake, "/b", 2)
		clients := w.clients(t, 3)
		first := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[0], "/b", 2))
		settle()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.Blackhole()})
		second := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[1], "/b", 2))
		settle()
		clients[1].Close()
		<-second.done
		require.Error(t, second.err)
		require.False(t, first.isOver())
		third := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[2], "/b", 2))
		w.leaveAll(t, []*barriers.Passage{first.wait(t), third.wait(t)})
		w.NothingLeft(t, "/b")
	})
}

// All who have come, and are about to open the barrier with the first member, fail:
// it has given up. The others are enough, and nobody comes any more who would open
// it for them.
func TestMemberGivesUpBeforeAllOthersOpen(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		newChecker(t, w.Fake, "/b", 2)
		clients := w.clients(t, 3)
		ctx, cancel := context.WithCancel(w.Patience(t))
		first := enterLater(ctx, barriers.NewDoubleBarrier(clients[0], "/b", 2))
		settle()
		openings := w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Times: 2, Do: zktest.DelayRequest(time.Minute)})
		second := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[1], "/b", 2))
		third := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[2], "/b", 2))
		time.Sleep(time.Second)
		require.Equal(t, 2, openings.Hits())
		cancel()
		<-first.done
		require.ErrorIs(t, first.err, barriers.ErrNotEntered)
		w.leaveAll(t, []*barriers.Passage{second.wait(t), third.wait(t)})
		w.NothingLeft(t, "/b")
	})
}

// Members come while a round is under way. They are in the next one, which
// opens beside the first. The members of one round do not wait for those of the
// other.
func TestRoundsSideBySide(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		clients := w.clients(t, 4)
		first := w.enterAll(t, path, clients[:2])
		second := w.enterAll(t, path, clients[2:])
		require.NotEqual(t, first[0].Members(), second[0].Members())
		for _, p := range append(first, second...) {
			require.NoError(t, p.Context().Err())
		}
		w.leaveAll(t, first)
		require.NoError(t, second[0].Context().Err())
		w.leaveAll(t, second)
		w.NothingLeft(t, path)
	})
}

// An opening arrives late, when others have opened that round and the next one.
// It changes nothing.
func TestLateOpeningChangesNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		newChecker(t, w.Fake, "/b", 2)
		clients := w.clients(t, 4)
		late := w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: clients[1].SessionID(), Do: zktest.DelayRequest(5 * time.Second)})
		var passages []*barriers.Passage
		var pending []*entering
		for _, c := range clients {
			pending = append(pending, enterLater(w.Patience(t), barriers.NewDoubleBarrier(c, "/b", 2)))
			settle()
		}
		for _, p := range pending {
			passages = append(passages, p.wait(t))
		}
		time.Sleep(time.Minute)
		require.Equal(t, 1, late.Hits())
		members, err := barriers.NewDoubleBarrier(w.Observer, "/b", 2).Members(t.Context())
		require.NoError(t, err)
		require.Len(t, members, 4)
		for _, m := range members {
			require.True(t, m.Inside, "%v", m)
		}
		w.leaveAll(t, passages)
		w.NothingLeft(t, "/b")
	})
}

// Members enter in the order in which they came.
func TestMembersEnterInOrder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 4)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DelayRequest(time.Second)})
		var pending []*entering
		for _, c := range clients[:3] { // the second one's opening is late
			pending = append(pending, enterLater(w.Patience(t), barriers.NewDoubleBarrier(c, "/b", 2)))
			settle()
		}
		time.Sleep(time.Minute)
		require.False(t, pending[2].isOver())
		passages := []*barriers.Passage{pending[0].wait(t), pending[1].wait(t)}
		last := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[3], "/b", 2))
		w.leaveAll(t, append(passages, pending[2].wait(t), last.wait(t)))
		w.NothingLeft(t, "/b")
	})
}

// The barrier's node does not keep the names of rounds that are over.
func TestNodeKeepsNoRoundsThatAreOver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 4)
		stay := w.enterAll(t, "/b", clients[:2])
		for range 3 {
			p := w.enterAll(t, "/b", clients[2:])
			n, _ := w.Fake.Node("/b")
			require.Equal(t, 2, strings.Count(string(n.Data), `"members"`), "the round that stays, and the newest")
			require.Contains(t, string(n.Data), stay[0].Name())
			require.Contains(t, string(n.Data), p[0].Name())
			w.leaveAll(t, p)
		}
		w.leaveAll(t, stay)
	})
}

// The request that makes a member's node is lost, or its reply. The member finds out
// which, and has no second node: the others would take that for another member, or
// the first one for a member that was lost.
func TestMemberWhoseCreateIsLostHasOneNode(t *testing.T) {
	for layout, opts := range layouts {
		for lost, fault := range map[string]zktest.Action{"request": zktest.DropRequest(), "reply": zktest.DropReply()} {
			t.Run(layout+"/"+lost, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					require.NoError(t, w.Fake.Create("/b", nil))
					made := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/b/*", Do: fault})
					p := w.enterAll(t, "/b", w.clients(t, 2), opts...)
					require.Equal(t, 1, made.Hits())
					for _, one := range p {
						require.True(t, strings.HasSuffix(one.Name(), ".1"), one.Name())
						require.NoError(t, one.Context().Err())
					}
					w.leaveAll(t, p)
					w.NothingLeft(t, "/b")
				})
			})
		}
	}
}
