package barriers_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
)

const members = 3

// layouts are the two layouts of a double barrier.
var layouts = map[string][]barriers.Option{"own": nil, "curator": {barriers.WithCuratorLayout()}}

// Members pass when all of them are there, and not before. They leave when all
// of them do, and not before. Nothing is left. That holds for one round after
// the other.
func TestMembersEnterAndLeaveTogether(t *testing.T) {
	for name, opts := range layouts {
		t.Run(name, func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, w *world) {
				path := recipetest.Path(t)
				clients := w.clients(t, members)
				for range 3 {
					var pending []*entering
					for i, c := range clients {
						for _, p := range pending {
							require.False(t, p.isOver(), "%d members are too few", i)
						}
						pending = append(pending, enterLater(w.Patience(t), barriers.NewDoubleBarrier(c, path, members, opts...)))
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
		})
	}
}

// All members of a round know the same members, and DoubleBarrier.Members tells
// who waits, who is inside, and who leaves.
func TestMembersAreKnown(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		ctx := w.Patience(t)
		clients := w.clients(t, members+1)
		b := barriers.NewDoubleBarrier(clients[members], path, members)
		all, err := b.Members(ctx)
		require.NoError(t, err)
		require.Empty(t, all)
		passages := w.enterAll(t, path, clients[:members])
		for _, p := range passages {
			require.Len(t, p.Members(), members)
			require.Equal(t, passages[0].Members(), p.Members())
			require.Contains(t, p.Members(), p.Name())
		}
		late, stop := context.WithCancel(ctx)
		next := enterLater(late, b)
		w.WaitNodes(t, path, members+1)
		left := leaveLater(ctx, passages[0])
		w.waitMark(t, path, passages[0])

		all, err = b.Members(ctx)
		require.NoError(t, err)
		require.Len(t, all, members+1)
		inside, leaving := map[string]bool{}, map[string]bool{}
		for _, m := range all {
			inside[m.Name], leaving[m.Name] = m.Inside, m.Leaving
			require.Equal(t, m.Name == passages[0].Name(), m.By.IsZero())
		}
		for _, p := range passages {
			require.True(t, inside[p.Name()])
			require.Equal(t, p == passages[0], leaving[p.Name()])
		}
		stop()
		<-next.done
		require.ErrorIs(t, next.err, context.Canceled)
		w.leaveAll(t, passages[1:])
		<-left.done
		require.NoError(t, left.err)
		w.NothingLeft(t, path)
	})
}

// waitMark waits until the node of a member that leaves says so.
func (w *world) waitMark(t *testing.T, path string, p *barriers.Passage) {
	t.Helper()
	ctx := w.Patience(t)
	for {
		data, _, watch, err := w.Observer.GetW(ctx, path+"/"+p.Name())
		require.NoError(t, err)
		if len(data) == 0 {
			watch.Stop()
			return
		}
		_, err = watch.Wait(ctx)
		require.NoError(t, err)
	}
}

// Seven members come to a barrier for three at once. Two rounds open, and one
// member waits for the third. No member is in two rounds.
func TestMoreMembersThanOpenTheBarrier(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		ctx, stop := context.WithCancel(w.Patience(t))
		defer stop()
		passed := make(chan *barriers.Passage)
		waits := make(chan error)
		for _, c := range w.clients(t, 2*members+1) {
			go func() {
				p, err := barriers.NewDoubleBarrier(c, path, members).Enter(ctx)
				if err != nil {
					waits <- err
					return
				}
				passed <- p
			}()
		}
		rounds := map[string]int{}
		var passages []*barriers.Passage
		for range 2 * members {
			p := <-passed
			passages = append(passages, p)
			for _, name := range p.Members() {
				rounds[name]++
			}
		}
		require.Len(t, rounds, 2*members)
		for name, n := range rounds {
			require.Equal(t, members, n, "each member of the round of %s knows it", name)
		}
		w.leaveAll(t, passages)
		stop()
		err := <-waits
		require.ErrorIs(t, err, barriers.ErrNotEntered)
		require.ErrorContains(t, err, fmt.Sprintf(" of %d were there", members))
		w.NothingLeft(t, path)
	})
}

// A member that gives up, or whose session is lost, does not count.
func TestMemberThatGoesBeforeTheOpeningDoesNotCount(t *testing.T) {
	for name, opts := range layouts {
		t.Run(name, func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, w *world) {
				path := recipetest.Path(t)
				clients := w.clients(t, 4)
				ctx, cancel := context.WithCancel(w.Patience(t))
				first := enterLater(ctx, barriers.NewDoubleBarrier(clients[0], path, 2, opts...))
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

				second := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[1], path, 2, opts...))
				w.WaitNodes(t, path, 1)
				clients[1].Close()
				<-second.done
				require.ErrorIs(t, second.err, framework.ErrClosed)
				w.WaitNodes(t, path, 0)

				third := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[2], path, 2, opts...))
				w.WaitNodes(t, path, 1)
				require.False(t, third.isOver())
				fourth := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[3], path, 2, opts...))
				w.leaveAll(t, []*barriers.Passage{third.wait(t), fourth.wait(t)})
				w.NothingLeft(t, path)
			})
		})
	}
}

// A member that loses its session while it waits goes on in the next one, and
// counts once.
func TestWaitingMemberOutlivesItsSession(t *testing.T) {
	for name, opts := range layouts {
		t.Run(name, func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, w *world) {
				path := recipetest.Path(t)
				c, network := w.Connect(t)
				other, _ := w.Connect(t)
				first := enterLater(w.Patience(t), barriers.NewDoubleBarrier(c, path, 2, opts...))
				w.WaitNodes(t, path, 1)
				old := c.SessionID()
				network.Expire(t)
				for c.SessionID() == old || !c.State().IsConnected() {
					require.NoError(t, c.Sync(w.Patience(t), "/"))
				}
				names := w.WaitNodes(t, path, 1)
				_, stat, err := w.Observer.Get(w.Patience(t), path+"/"+names[0])
				require.NoError(t, err)
				require.Equal(t, c.SessionID(), stat.EphemeralOwner)
				require.False(t, first.isOver())
				second := enterLater(w.Patience(t), barriers.NewDoubleBarrier(other, path, 2, opts...))
				w.leaveAll(t, []*barriers.Passage{first.wait(t), second.wait(t)})
				w.NothingLeft(t, path)
			})
		})
	}
}

// When a member is lost inside, the contexts of the others end and name it. It
// counts as left, so the others can leave.
func TestLossOfAMemberEndsTheContexts(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		clients := w.clients(t, members)
		for lost := range members {
			c, _ := w.Connect(t)
			passages := w.enterAll(t, path, append(append([]*framework.Client{}, clients[:lost]...), append([]*framework.Client{c}, clients[lost:members-1]...)...))
			c.Close()
			<-passages[lost].Context().Done()
			require.ErrorIs(t, context.Cause(passages[lost].Context()), framework.ErrClosed)
			require.ErrorIs(t, passages[lost].Leave(w.Patience(t)), framework.ErrClosed)
			others := append(append([]*barriers.Passage{}, passages[:lost]...), passages[lost+1:]...)
			for _, p := range others {
				<-p.Context().Done()
				var lostError *barriers.MemberLostError
				require.ErrorAs(t, context.Cause(p.Context()), &lostError)
				require.Equal(t, []string{passages[lost].Name()}, lostError.Members)
				require.ErrorContains(t, lostError, passages[lost].Name())
			}
			w.leaveAll(t, others)
			w.NothingLeft(t, path)
		}
	})
}

// A member that leaves, or that gives up waiting for the others to leave, is
// not lost: the contexts of the others go on.
func TestMemberThatLeavesIsNotLost(t *testing.T) {
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
		require.Len(t, w.Fake.Children("/b"), 2)
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
	for name, opts := range layouts {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				clients := w.clients(t, 2)
				passages := w.enterAll(t, "/b", clients, opts...)
				w.Fake.Session(clients[0].SessionID()).Expire()
				<-passages[0].Context().Done()
				require.ErrorIs(t, context.Cause(passages[0].Context()), framework.ErrSessionLost)
				require.ErrorIs(t, passages[0].Leave(w.Patience(t)), framework.ErrSessionLost)
				w.leaveAll(t, passages[1:])
				w.NothingLeft(t, "/b")
			})
		})
	}
}

// An interruption that the session survives disturbs nobody.
func TestInterruptionInside(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		other, _ := w.Connect(t)
		passages := w.enterAll(t, "/b", []*framework.Client{c, other})
		network.Cut()
		time.Sleep(time.Minute)
		require.NoError(t, passages[0].Context().Err())
		require.NoError(t, passages[1].Context().Err())
		network.Refuse(true)
		network.Cut()
		left := leaveLater(w.Patience(t), passages[0])
		time.Sleep(time.Second)
		network.Refuse(false)
		w.leaveAll(t, passages[1:])
		<-left.done
		require.NoError(t, left.err)
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
