package leader_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// latch returns a latch that stands. It is shut down at the end of the test.
func latch(t *testing.T, c *framework.Client, path string, opts ...leader.Option) *leader.Latch {
	t.Helper()
	l, err := leader.NewLatch(c, path, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { l.Shutdown(context.WithoutCancel(t.Context())) })
	return l
}

// await waits until a latch leads, and returns the lease.
func (w *world) await(t *testing.T, l *leader.Latch) *locks.Lease {
	t.Helper()
	lease, err := l.WaitLeadership(w.Patience(t))
	require.NoError(t, err)
	return lease
}

// Curator: TestLeaderLatch#testBasic. The next candidate in line takes over, in
// the order of standing.
func TestLatchesLeadInTheOrderOfStanding(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		var latches []*leader.Latch
		for i := range 5 {
			c, _ := w.Connect(t)
			latches = append(latches, latch(t, c, path))
			w.WaitNodes(t, path, i+1)
		}
		var token int64
		for i, l := range latches {
			lease := w.await(t, l)
			require.Greater(t, lease.FencingToken(), token)
			token = lease.FencingToken()
			for _, other := range latches[i+1:] {
				require.Nil(t, other.Leadership())
			}
			require.NoError(t, l.Shutdown(ctx))
			require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
			_, err := l.WaitLeadership(ctx)
			require.ErrorIs(t, err, leader.ErrClosed)
		}
		w.NothingLeft(t, path)
	})
}
