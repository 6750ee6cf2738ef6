package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// Every way to step down returns when the node is gone.
func TestSteppingDownWaitsForTheNode(t *testing.T) {
	const slow = time.Second
	for name, start := range bothElected {
		for how, stepDown := range waysToStepDown {
			t.Run(name+"/"+how, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					l, lease := start(t, w)
					go releaseWhenAsked(lease)
					w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DelayRequest(slow)})
					asked := time.Now()
					require.NoError(t, stepDown(l, t.Context()))
					require.Equal(t, slow, time.Since(asked))
					_, there := w.Fake.Node(lease.Path())
					require.False(t, there)
				})
			})
		}
	}
}

// bothElected start a leader of each recipe, with a candidate behind it.
var bothElected = map[string]func(*testing.T, *world) (elected, *locks.Lease){
	"latch": func(t *testing.T, w *world) (elected, *locks.Lease) {
		latches, lease := w.startLatches(t, "/l", 2)
		return latches[0], lease
	},
	"selector": func(t *testing.T, w *world) (elected, *locks.Lease) {
		first, _, lease := w.startSelectors(t, "/l", 0)
		return first.selector, lease
	},
}

// The server refuses to delete the leader's node, so that nobody leads. Whoever
// has asked the leader to step down is told.
func TestSteppingDownSaysThatTheNodeStays(t *testing.T) {
	for name, start := range bothElected {
		for how, stepDown := range waysToStepDown {
			t.Run(name+"/"+how, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					l, lease := start(t, w)
					go releaseWhenAsked(lease)
					refused := w.Fake.Inject(zktest.Rule{
						Op: zktest.OpDelete, Path: lease.Path(), Times: -1, Do: zktest.Fail(zktest.ErrNoAuth),
					})
					defer refused.Remove()
					require.ErrorIs(t, stepDown(l, t.Context()), zk.ErrNoAuth)
					_, there := w.Fake.Node(lease.Path())
					require.True(t, there)
				})
			})
		}
	}
}

// releaseWhenAsked waits for a request to give a lease up, and releases it.
func releaseWhenAsked(lease *locks.Lease) {
	select {
	case <-lease.Revoked():
		lease.Release(context.Background())
	case <-lease.Context().Done():
	}
}

// waysToStepDown are the ways that both recipes have.
var waysToStepDown = map[string]func(l elected, ctx context.Context) error{"resign": elected.Resign, "hand over": elected.HandOver}

// The leader's own work may step down, with the context that it leads under.
// The call does not wait for the work, since it would wait for itself.
func TestLeaderStepsDownItself(t *testing.T) {
	for how, stepDown := range waysToStepDown {
		t.Run("selector/"+how, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				s := leader.NewSelector(c, "/l")
				var second *running
				err := s.Run(t.Context(), func(ctx context.Context) error {
					lease, _ := locks.LeaseFromContext(ctx)
					second = w.run(t, w.Observer, "/l", 0)
					w.WaitNodes(t, "/l", 2)
					require.NoError(t, stepDown(s, ctx))
					require.Equal(t, how == "resign", ctx.Err() != nil)
					require.Equal(t, how == "hand over", recipetest.IsClosed(lease.Revoked()))
					time.Sleep(time.Minute)
					require.Empty(t, second.leads, "not before it has returned")
					return nil
				})
				if how == "resign" {
					require.ErrorIs(t, err, locks.ErrRevoked, "it has gone on behind the end of its leadership")
				} else {
					require.NoError(t, err)
				}
				<-second.leads
				w.stopAll(t, "/l", second)
			})
		})
	}
	t.Run("latch/hand over", func(t *testing.T) {
		inVirtualTime(t, func(t *testing.T, w *world) {
			latches, lease := w.startLatches(t, "/l", 2)
			require.NoError(t, latches[0].HandOver(lease.Context()))
			require.True(t, recipetest.IsClosed(lease.Revoked()))
			require.NoError(t, lease.Context().Err(), "it was asked only")
			require.NoError(t, lease.Release(t.Context()))
			w.await(t, latches[1])
			w.closeAll(t, "/l", latches...)
		})
	})
}

// When the context of a hand-over ends, the leadership ends, too. That holds
// even if the server could not be asked for a successor.
func TestHandOverEndsTheLeadershipWithItsContext(t *testing.T) {
	for _, when := range []string{"before", "during an outage"} {
		t.Run(when, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				first, second, lease, network := w.leaderAndNext(t, "/l")
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				if when == "before" {
					cancel()
				} else {
					network.Refuse(true)
					network.Cut()
				}
				require.ErrorIs(t, first.HandOver(ctx), ctx.Err())
				require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrRevoked)
				network.Refuse(false)
				w.await(t, second)
				w.closeAll(t, "/l", first, second)
			})
		})
	}
}

// A leader that was asked to step down is interrupted during its grace. It has
// stopped then, and does not begin another leadership with another grace.
func TestGraceEndsWithAnInterruption(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy))
		first := latch(t, c, "/l", leader.WithGrace(time.Hour))
		lease := w.await(t, first)
		other, _ := w.Connect(t)
		second := latch(t, other, "/l")
		w.WaitNodes(t, "/l", 2)
		require.NoError(t, locks.Revoke(t.Context(), w.Observer, lease.Path()))
		<-lease.Revoked()
		network.Cut()
		require.ErrorIs(t, w.endOf(t, lease), framework.ErrSuspended)
		w.await(t, second)
		require.Nil(t, first.Leadership())
		w.closeAll(t, "/l", first, second)
	})
}
