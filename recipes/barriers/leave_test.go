package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// A member marks its node, the reply is lost, and another member ends the
// round. Both have left, and Leave says so.
func TestLeaveWhoseMarkHasNoReply(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		p := w.enterAll(t, "/b", clients)
		first := leaveLater(w.Patience(t), p[0])
		settle()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Session: clients[1].SessionID(), Do: zktest.DropReply()})
		second := leaveLater(w.Patience(t), p[1])
		<-first.done
		<-second.done
		require.NoError(t, first.err)
		require.NoError(t, second.err)
	})
}

// An operator deletes the node of a member that is about to mark it, while
// another member is inside. The round is not over, and Leave says why it ends.
func TestLeaveOfANodeThatAnOperatorDeletes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		p := w.enterAll(t, "/b", clients)
		settle()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Session: clients[1].SessionID(), Do: zktest.Call(func(zktest.Request) {
			if err := w.Fake.Delete("/b/" + p[1].Name()); err != nil {
				t.Error(err)
			}
		})})
		require.ErrorIs(t, p[1].Leave(w.Patience(t)), barriers.ErrNodeDeleted)
		require.NoError(t, p[0].Leave(w.Patience(t)))
	})
}

// A Leave that has given up says the same when it is called again.
func TestSecondLeaveReturnsTheSame(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.enterAll(t, "/b", w.clients(t, 2))
		settle()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first := p[0].Leave(ctx)
		require.ErrorContains(t, first, "leave /b: other members have not left: ")
		require.ErrorIs(t, first, barriers.ErrNotLeft)
		require.ErrorIs(t, first, context.DeadlineExceeded)
		settle()
		require.Equal(t, first, p[0].Leave(ctx))
		require.Equal(t, first, p[0].Leave(w.Patience(t)))
	})
}

// A member gives up its Leave, and the server refuses what it tells the others.
// The error says both.
func TestLeaveThatGivesUpAndIsRefused(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		p := w.enterAll(t, "/b", clients)
		settle()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: clients[0].SessionID(), Do: zktest.Fail(zktest.ErrNoAuth)})
		err := p[0].Leave(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, barriers.ErrNotLeft)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, zk.ErrNoAuth)
		require.Equal(t, err, p[0].Leave(w.Patience(t)))
	})
}

// A Leave has given up and returned when the servers refuse what the member
// tells the others. It says the same when it is called again.
func TestSecondLeaveAfterALateRefusalReturnsTheSame(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		p := w.enterAll(t, "/b", clients)
		settle()
		refused := w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: clients[0].SessionID(), Do: zktest.All(
			zktest.DelayRequest(5*time.Second), zktest.Fail(zktest.ErrNoAuth))})
		first := p[0].Leave(recipetest.Within(t, time.Second))
		require.ErrorIs(t, first, barriers.ErrNotLeft)
		require.Equal(t, first, p[0].Leave(recipetest.Within(t, time.Second)), "the servers have not answered")
		time.Sleep(time.Minute)
		require.Equal(t, 1, refused.Hits())
		require.Equal(t, first, p[0].Leave(w.Patience(t)))
	})
}

// leaves counts the Leaves that hooks are told of.
type leaves struct{ told []error }

func (l *leaves) BarrierWaited(w barriers.Waited) {
	if w.Op == "leave" {
		l.told = append(l.told, w.Err)
	}
}

// Hooks are told of the Leave of a member once, also if its context has ended,
// and it is called again and again: when the member is out, and when it has
// given up without a connection.
func TestHooksAreToldOfOneLeave(t *testing.T) {
	for name, end := range map[string]func(*world, *barriers.Passage, *recipetest.Network, *framework.Client){
		"the session is lost": func(w *world, p *barriers.Passage, _ *recipetest.Network, c *framework.Client) {
			w.Fake.Session(c.SessionID()).Expire()
			<-p.Context().Done()
		},
		"there is no connection": func(_ *world, _ *barriers.Passage, n *recipetest.Network, _ *framework.Client) {
			n.Refuse(true)
			n.Cut()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				var hooks leaves
				c, network := w.Connect(t, framework.WithHooks(&hooks))
				p := w.enterAll(t, "/b", []*framework.Client{c, w.Observer})
				settle()
				end(w, p[0], network, c)
				settle()
				over, cancel := context.WithCancel(t.Context())
				cancel()
				first := p[0].Leave(over)
				require.Error(t, first)
				for range 3 {
					require.Equal(t, first, p[0].Leave(over))
				}
				require.Len(t, hooks.told, 1)
				require.Equal(t, first, hooks.told[0])
				network.Refuse(false)
				w.leaveAll(t, p[1:])
			})
		})
	}
}

// A member gives up its Leave, and closes its client at once. The others do not
// take it for lost.
func TestLeaveThatGivesUpBeforeTheClientIsClosed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		p := w.enterAll(t, "/b", clients)
		settle()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, p[0].Leave(ctx), barriers.ErrNotLeft)
		require.NoError(t, clients[0].Close())
		time.Sleep(time.Minute)
		require.NoError(t, context.Cause(p[1].Context()))
	})
}

// Of two Leaves of one member, the one that gives up fails alone. The other one
// waits until all have left, whichever was called first.
func TestLeaveThatGivesUpBesideAnotherOne(t *testing.T) {
	for name, patientFirst := range map[string]bool{"patient first": true, "patient last": false} {
		for layout, opts := range layouts {
			t.Run(name+"/"+layout, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					p := w.enterAll(t, "/b", w.clients(t, 2), opts...)
					var all []*leaving
					for i := range 2 {
						ctx := recipetest.Within(t, time.Minute)
						if (i == 0) == patientFirst {
							ctx = w.Patience(t)
						}
						all = append(all, leaveLater(ctx, p[0]))
						settle()
					}
					over, cancel := context.WithCancel(t.Context())
					cancel()
					require.ErrorIs(t, p[0].Leave(over), barriers.ErrNotLeft)
					time.Sleep(time.Hour)
					patient, other := all[0], all[1]
					if !patientFirst {
						patient, other = other, patient
					}
					require.True(t, other.isOver())
					require.ErrorIs(t, other.err, barriers.ErrNotLeft)
					require.ErrorIs(t, other.err, context.DeadlineExceeded)
					require.False(t, patient.isOver())
					require.NoError(t, p[1].Leave(w.Patience(t)))
					<-patient.done
					require.NoError(t, patient.err)
					require.NoError(t, p[0].Leave(over), "it has left before")
					w.NothingLeft(t, "/b")
				})
			})
		}
	}
}

// The member gives up with the last of its Leaves.
func TestAllLeavesOfAMemberGiveUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.enterAll(t, "/b", w.clients(t, 2))
		settle()
		one, two := leaveLater(recipetest.Within(t, time.Second), p[0]), leaveLater(recipetest.Within(t, time.Minute), p[0])
		<-one.done
		require.ErrorIs(t, one.err, barriers.ErrNotLeft)
		require.Len(t, w.Fake.Children("/b"), 2)
		<-two.done
		require.ErrorIs(t, two.err, barriers.ErrNotLeft)
		settle()
		require.Len(t, w.Fake.Children("/b"), 1)
		require.NoError(t, context.Cause(p[1].Context()))
		w.leaveAll(t, p[1:])
	})
}
