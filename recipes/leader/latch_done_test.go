package leader_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// A caller that does not wait for the leadership learns that a candidacy is
// over, and why: from Done and Err, and from the end of Changes. While the
// candidacy goes on, neither says anything, whatever happens to the connection.
func TestLatchTellsTheEndOfItsCandidacy(t *testing.T) {
	for _, of := range []struct {
		why   error
		told  int // changes: two beginnings and the first end, and the second unless it is by Shutdown
		cause func(t *testing.T, w *world, c *framework.Client, l *leader.Latch)
	}{
		{leader.ErrClosed, 3, func(t *testing.T, _ *world, _ *framework.Client, l *leader.Latch) {
			require.NoError(t, l.Shutdown(t.Context()))
		}},
		{framework.ErrClosed, 4, func(t *testing.T, _ *world, c *framework.Client, _ *leader.Latch) {
			require.NoError(t, c.Close())
		}},
		{zk.ErrNoAuth, 4, func(t *testing.T, w *world, _ *framework.Client, l *leader.Latch) {
			w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.Fail(zktest.ErrNoAuth)})
			require.NoError(t, l.Resign(t.Context()))
		}},
	} {
		t.Run(of.why.Error(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, network := w.Connect(t)
				l := latch(t, c, "/l")
				changes := l.Changes(t.Context())
				w.await(t, l)
				network.Expire(t)
				time.Sleep(time.Minute)
				require.NotNil(t, l.Leadership())
				require.False(t, recipetest.IsClosed(l.Done()))
				require.NoError(t, l.Err())

				of.cause(t, w, c, l)
				<-l.Done()
				heard, err := collect(changes)
				require.Len(t, heard, of.told)
				require.Equal(t, l.Err(), err, "it is the last element")
				require.ErrorIs(t, l.Err(), of.why)
				_, err = l.WaitLeadership(t.Context())
				require.Equal(t, errors.Unwrap(l.Err()), errors.Unwrap(err))
				require.ErrorContains(t, err, "wait leadership /l: ")
				require.Nil(t, l.Leadership())
				require.NoError(t, l.Shutdown(t.Context()))
				require.ErrorIs(t, l.Err(), of.why, "it stays the reason")
				w.NothingLeft(t, "/l")
			})
		})
	}
}

// WaitLeadership returns the end of its context, also while the latch goes on
// leading. So
// the loop in Latch's documentation ends with the context.
func TestWaitLeadershipReturnsTheEndOfItsContextWhileItLeads(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		l := latch(t, c, "/l")
		lease := w.await(t, l)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := l.WaitLeadership(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, locks.ErrNotAcquired, "nobody is ahead")
		require.Same(t, lease, l.Leadership())
		w.closeAll(t, "/l", l)
	})
}

// The lease of a lost leadership returns the loss from Release, to every caller
// and at any time.
func TestReleaseOfALostLeadershipTellsTheReason(t *testing.T) {
	for why, lose := range map[error]func(t *testing.T, w *world, lease *locks.Lease, network *recipetest.Network){
		framework.ErrSessionLost: func(t *testing.T, _ *world, _ *locks.Lease, network *recipetest.Network) { network.Expire(t) },
		framework.ErrSuspended:   func(_ *testing.T, _ *world, _ *locks.Lease, network *recipetest.Network) { network.Cut() },
		locks.ErrNodeDeleted: func(t *testing.T, w *world, lease *locks.Lease, _ *recipetest.Network) {
			require.NoError(t, w.Fake.Delete(lease.Path()))
		},
		locks.ErrRevoked: func(t *testing.T, w *world, lease *locks.Lease, _ *recipetest.Network) {
			require.NoError(t, locks.Revoke(t.Context(), w.Observer, lease.Path()))
		},
	} {
		t.Run(why.Error(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				policy := map[bool]state.ErrorPolicy{true: state.StandardPolicy, false: state.SessionPolicy}[why == framework.ErrSuspended]
				c, network := w.Connect(t, framework.WithErrorPolicy(policy))
				l := latch(t, c, "/l")
				lease := w.await(t, l)
				lose(t, w, lease, network)
				require.ErrorIs(t, w.endOf(t, lease), why)
				synctest.Wait() // the latch has given the leadership up
				require.ErrorIs(t, lease.Release(t.Context()), why)
				require.ErrorIs(t, lease.Release(t.Context()), locks.ErrReleased)
				again := w.await(t, l)
				require.NoError(t, again.Context().Err(), "another one, which that does not touch")
				w.closeAll(t, "/l", l)
			})
		})
	}
}

// inOrder compares changes by the tokens of their leaderships.
func inOrder(a, b leader.Change) int {
	return cmp.Compare(a.Lease.FencingToken(), b.Lease.FencingToken())
}

// Many goroutines may use a latch at once, with all of its methods.
func TestLatchIsUsedByManyAtOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for round := range 20 {
			c, network := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy))
			other := latch(t, w.Observer, "/l")
			l, err := leader.NewLatch(c, "/l", closeNotification(round%2 == 0)...)
			require.NoError(t, err)
			ctx := recipetest.Within(t, time.Minute)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() { l.WaitLeadership(ctx) })
				all.Go(func() {
					heard, _ := collect(l.Changes(ctx))
					assert.True(t, slices.IsSortedFunc(heard, inOrder), "%v", heard)
				})
				for _, one := range []*leader.Latch{l, other} {
					all.Go(func() { one.HandOver(ctx) })
					all.Go(func() { one.Resign(ctx) })
					all.Go(func() { one.Participants(ctx) })
				}
				all.Go(func() { time.Sleep(time.Second); network.Cut() })
				all.Go(func() { time.Sleep(time.Second); l.Shutdown(ctx) })
				all.Go(func() { time.Sleep(time.Second); assert.NoError(t, l.Shutdown(ctx)) })
			}
			all.Wait()
			require.ErrorIs(t, l.Err(), leader.ErrClosed)
			w.await(t, other)
			w.closeAll(t, "/l", other)
		}
	})
}
