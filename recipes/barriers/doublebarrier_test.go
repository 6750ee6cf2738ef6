package barriers_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

const members = 3

// Members pass when all of them are there, and not before. They leave when all
// of them do, and not before. Nothing is left. That holds for one round after
// the other.
func TestMembersEnterAndLeaveTogether(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		clients := w.clients(t, members)
		for range 3 {
			var pending []*entering
			for i, c := range clients {
				for _, p := range pending {
					require.False(t, p.isOver(), "%d members are too few", i)
				}
				pending = append(pending, enterLater(w.Patience(t), barriers.NewDoubleBarrier(c, path, members)))
				if i < members-1 {
					w.WaitNodes(t, path, i+1)
				}
			}
			var left []*leaving
			for _, p := range pending {
				passage := p.wait(t)
				require.NoError(t, passage.Context().Err())
				for _, l := range left {
					require.False(t, l.isOver())
				}
				left = append(left, leaveLater(w.Patience(t), passage))
				<-passage.Context().Done()
				require.ErrorIs(t, context.Cause(passage.Context()), barriers.ErrLeft)
			}
			for _, l := range left {
				<-l.done
				require.NoError(t, l.err)
			}
			w.NothingLeft(t, path)
		}
	})
}

// A member that gives up, or whose session is lost, does not count.
func TestMemberThatGoesBeforeTheOpeningDoesNotCount(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		clients := w.clients(t, 4)
		ctx, cancel := context.WithCancel(w.Patience(t))
		first := enterLater(ctx, barriers.NewDoubleBarrier(clients[0], path, 2))
		w.WaitNodes(t, path, 1)
		if w.Fake != nil {
			synctest.Wait() // its create is answered
		}
		cancel()
		<-first.done
		require.ErrorIs(t, first.err, barriers.ErrNotEntered)
		require.ErrorIs(t, first.err, context.Canceled)
		if w.Fake != nil {
			require.ErrorContains(t, first.err, "1 of 2")
		}
		w.NothingLeft(t, path)

		second := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[1], path, 2))
		w.WaitNodes(t, path, 1)
		clients[1].Close()
		<-second.done
		require.ErrorIs(t, second.err, framework.ErrClosed)
		w.WaitNodes(t, path, 0)

		third := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[2], path, 2))
		w.WaitNodes(t, path, 1)
		require.False(t, third.isOver())
		fourth := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[3], path, 2))
		w.leaveAll(t, []*barriers.Passage{third.wait(t), fourth.wait(t)})
		w.NothingLeft(t, path)
	})
}

// A member that gives up waiting for the others to leave has left. The others go
// on, and wait for each other.
func TestMemberThatGivesUpItsLeaveHasLeft(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		passages := w.enterAll(t, "/b", w.clients(t, 4))
		hurried := recipetest.Within(t, time.Second)
		err := passages[0].Leave(hurried)
		require.ErrorIs(t, err, barriers.ErrNotLeft)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, passages[1].Leave(over), barriers.ErrNotLeft)
		patient := leaveLater(w.Patience(t), passages[2])
		time.Sleep(time.Minute)
		for i, p := range passages {
			if i < 2 {
				require.NotContains(t, w.Fake.Children("/b"), p.Name())
			}
		}
		require.NoError(t, passages[3].Context().Err())
		require.False(t, patient.isOver())
		require.ErrorIs(t, passages[0].Leave(w.Patience(t)), barriers.ErrNotLeft, "it has given up before")
		w.leaveAll(t, passages[3:])
		<-patient.done
		require.NoError(t, patient.err)
		require.NoError(t, passages[3].Leave(over), "it has left before")
		w.NothingLeft(t, "/b")
	})
}

// A member that has lost its session has no part in the round any more.
func TestLostMemberDoesNotWaitForTheOthers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		passages := w.enterAll(t, "/b", clients)
		w.Fake.Session(clients[0].SessionID()).Expire()
		<-passages[0].Context().Done()
		require.ErrorIs(t, context.Cause(passages[0].Context()), framework.ErrSessionLost)
		require.ErrorIs(t, passages[0].Leave(w.Patience(t)), framework.ErrSessionLost)
		w.leaveAll(t, passages[1:])
		w.NothingLeft(t, "/b")
	})
}

// The error policy decides whether an interruption ends the context. The member
// stays a member.
func TestStandardPolicyEndsTheContextAtAnInterruption(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t, framework.WithErrorPolicy(standardPolicy))
		other, _ := w.Connect(t)
		passages := w.enterAll(t, "/b", []*framework.Client{c, other})
		network.Cut()
		<-passages[0].Context().Done()
		require.ErrorIs(t, context.Cause(passages[0].Context()), framework.ErrSuspended)
		time.Sleep(time.Minute)
		require.NoError(t, passages[1].Context().Err())
		w.leaveAll(t, passages)
		w.NothingLeft(t, "/b")
	})
}

// Values that cannot be used are errors of every call, before anything is sent.
func TestDoubleBarriersThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		w.Fake.ClearRequests()
		ctx := t.Context()
		for want, all := range map[error][]*barriers.DoubleBarrier{
			zk.ErrBadArguments: {
				{},
				barriers.NewDoubleBarrier(nil, "/b", 2),
				barriers.NewDoubleBarrier(c, "/b", 0),
				barriers.NewDoubleBarrier(c, "/b", -1),
			},
			zk.ErrInvalidPath: {
				barriers.NewDoubleBarrier(c, "b", 2),
				barriers.NewDoubleBarrier(c, "", 2),
				barriers.NewDoubleBarrier(c, "/", 2),
			},
		} {
			for _, b := range all {
				_, err := b.Enter(ctx)
				require.ErrorIs(t, err, want)
			}
		}
		require.Empty(t, w.Requests())
	})
}

// A refusal of the server is an error of Enter, which leaves nothing behind.
func TestRefusalIsAnErrorOfEnter(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpExists, zktest.OpGetChildren} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.Connect(t)
			w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Path: "/b*", Session: c.SessionID(), Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
			_, err := barriers.NewDoubleBarrier(c, "/b", 1).Enter(t.Context())
			require.ErrorIs(t, err, zk.ErrNoAuth)
			w.NothingLeft(t, "/b")
		})
	}
}
