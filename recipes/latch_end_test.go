package recipes_test

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// Whoever asks, and does not wait for the leadership, is told that a candidacy is over, and why: by Done and Err, and by the
// end of Changes. While it goes on, nothing is told, whatever happens to the connection.
func TestLatchTellsTheEndOfItsCandidacy(t *testing.T) {
	for _, of := range []struct {
		why   error
		told  int // changes: two leaderships and the end of the first, and that of the second but for Close
		cause func(t *testing.T, w *world, c *framework.Client, l *recipes.LeaderLatch)
	}{
		{recipes.ErrClosed, 3, func(t *testing.T, _ *world, _ *framework.Client, l *recipes.LeaderLatch) {
			require.NoError(t, l.Close(t.Context()))
		}},
		{framework.ErrClosed, 4, func(t *testing.T, _ *world, c *framework.Client, _ *recipes.LeaderLatch) {
			require.NoError(t, c.Close())
		}},
		{zk.ErrNoAuth, 4, func(t *testing.T, w *world, _ *framework.Client, l *recipes.LeaderLatch) {
			w.fake.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.Fail(zktest.ErrNoAuth)})
			require.NoError(t, l.Resign(t.Context()))
		}},
	} {
		t.Run(of.why.Error(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, knife := w.connect(t)
				l := recipes.NewLeaderLatch(c, "/l")
				changes := l.Changes(t.Context())
				start(t, l)
				w.await(t, l)
				knife.expire(t)
				time.Sleep(time.Minute)
				require.NotNil(t, l.Leadership())
				require.False(t, isClosed(l.Done()))
				require.NoError(t, l.Err())

				of.cause(t, w, c, l)
				<-l.Done()
				require.Len(t, slices.Collect(changes), of.told)
				require.ErrorIs(t, l.Err(), of.why)
				_, err := l.Await(t.Context())
				require.Equal(t, l.Err(), err)
				require.Nil(t, l.Leadership())
				require.NoError(t, l.Close(t.Context()))
				require.ErrorIs(t, l.Err(), of.why, "it stays the reason")
				w.nothingLeft(t, "/l")
			})
		})
	}
}

// A latch that never stood is over when it is closed, or when its client is found to be.
func TestLatchThatNeverStoodTellsItsEnd(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		for _, path := range []string{"/l", "relative"} {
			never := recipes.NewLeaderLatch(c, path)
			require.False(t, isClosed(never.Done()))
			require.NoError(t, never.Err())
			require.NoError(t, never.Close(t.Context()))
			require.True(t, isClosed(never.Done()))
			require.ErrorIs(t, never.Err(), recipes.ErrClosed)
		}
		require.NoError(t, c.Close())
		late := recipes.NewLeaderLatch(c, "/l")
		for range 2 {
			require.ErrorIs(t, late.Start(), framework.ErrClosed)
		}
		require.True(t, isClosed(late.Done()))
		require.ErrorIs(t, late.Err(), framework.ErrClosed)
		_, err := late.Await(t.Context())
		require.ErrorIs(t, err, framework.ErrClosed)
		require.NoError(t, late.Close(t.Context()))
	})
}

// The loop of LeaderLatch's documentation ends with its context, also while the latch leads on.
func TestAwaitReturnsTheEndOfItsContextWhileItLeads(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		l := latch(t, c, "/l")
		lease := w.await(t, l)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := l.Await(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, recipes.ErrNotAcquired, "nobody is ahead")
		require.Same(t, lease, l.Leadership())
		w.closeAll(t, "/l", l)
	})
}

// The lease of a leadership that was lost says so when it is released, by whomever and whenever.
func TestReleaseOfALostLeadershipTellsTheReason(t *testing.T) {
	for why, lose := range map[error]func(t *testing.T, w *world, lease *recipes.Lease, knife *wire){
		framework.ErrSessionLost: func(t *testing.T, _ *world, _ *recipes.Lease, knife *wire) { knife.expire(t) },
		framework.ErrSuspended:   func(_ *testing.T, _ *world, _ *recipes.Lease, knife *wire) { knife.cut() },
		recipes.ErrNodeDeleted: func(t *testing.T, w *world, lease *recipes.Lease, _ *wire) {
			require.NoError(t, w.fake.Delete(lease.Path()))
		},
		recipes.ErrRevoked: func(t *testing.T, w *world, lease *recipes.Lease, _ *wire) {
			require.NoError(t, recipes.Revoke(t.Context(), w.observer, lease.Path()))
		},
	} {
		t.Run(why.Error(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				policy := map[bool]state.ErrorPolicy{true: state.StandardPolicy, false: state.SessionPolicy}[why == framework.ErrSuspended]
				c, knife := w.connect(t, framework.WithErrorPolicy(policy))
				l := latch(t, c, "/l")
				lease := w.await(t, l)
				lose(t, w, lease, knife)
				require.ErrorIs(t, w.endOf(t, lease), why)
				synctest.Wait() // the latch has given it up
				require.ErrorIs(t, lease.Release(t.Context()), why)
				require.ErrorIs(t, lease.Release(t.Context()), recipes.ErrReleased)
				again := w.await(t, l)
				require.NoError(t, again.Context().Err(), "another one, which that does not touch")
				w.closeAll(t, "/l", l)
			})
		})
	}
}

// inOrder compares changes by the tokens of their leaderships.
func inOrder(a, b recipes.LeadershipChange) int {
	return cmp.Compare(a.Lease.FencingToken(), b.Lease.FencingToken())
}

// A latch may be used by many at once, in every way.
func TestLatchIsUsedByManyAtOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for range 20 {
			c, knife := w.connect(t, framework.WithErrorPolicy(state.StandardPolicy))
			other := latch(t, w.observer, "/l")
			l := recipes.NewLeaderLatch(c, "/l")
			ctx := within(t, time.Minute)
			var all sync.WaitGroup
			var starts atomic.Int32
			for range 4 {
				all.Go(func() {
					if l.Start() == nil {
						starts.Add(1)
					}
				})
				all.Go(func() { l.Await(ctx) })
				all.Go(func() {
					heard := slices.Collect(l.Changes(ctx))
					assert.True(t, slices.IsSortedFunc(heard, inOrder), "%v", heard)
				})
				for _, one := range []*recipes.LeaderLatch{l, other} {
					all.Go(func() { one.HandOver(ctx) })
					all.Go(func() { one.Resign(ctx) })
					all.Go(func() { one.Participants(ctx) })
				}
				all.Go(func() { time.Sleep(time.Second); knife.cut() })
				all.Go(func() { time.Sleep(time.Second); l.CloseNotify(ctx) })
				all.Go(func() { time.Sleep(time.Second); assert.NoError(t, l.Close(ctx)) })
			}
			all.Wait()
			require.EqualValues(t, 1, starts.Load())
			require.ErrorIs(t, l.Err(), recipes.ErrClosed)
			w.await(t, other)
			w.closeAll(t, "/l", other)
		}
	})
}
