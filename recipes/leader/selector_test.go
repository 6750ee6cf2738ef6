package leader_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// The work runs under the leadership, and Run returns its error. The node is
// deleted when the work has returned.
func TestSelectorRunsTheWorkWhileItLeads(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		selector := leader.NewSelector(c, path, leader.WithID("one"))
		failed := errors.New("work failed")
		err := selector.Run(ctx, func(ctx context.Context) error {
			lease, ok := locks.LeaseFromContext(ctx)
			require.True(t, ok)
			require.Same(t, lease, selector.Leadership())
			require.ErrorIs(t, selector.Run(ctx, func(context.Context) error { return nil }), leader.ErrRunning)
			leading, err := selector.Leader(ctx)
			require.NoError(t, err)
			require.Equal(t, "one", leading.ID())
			require.Equal(t, lease.FencingToken(), leading.Token)
			return failed
		})
		require.Equal(t, failed, err)
		require.Nil(t, selector.Leadership())
		_, err = selector.Leader(ctx)
		require.ErrorIs(t, err, leader.ErrNoLeader)
		w.NothingLeft(t, path)
	})
}

// Run returns an error for an invalid path, option or work before it sends any
// request.
func TestSelectorThatCannotRun(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		c, _ := w.Connect(t)
		require.ErrorIs(t, leader.NewSelector(c, "relative").Run(ctx, idle), zk.ErrInvalidPath)
		require.ErrorIs(t, leader.NewSelector(c, "/l").Run(ctx, nil), zk.ErrBadArguments)
		for _, opt := range []leader.Option{
			leader.WithGrace(-1), leader.WithRequeue(nil), nil,
		} {
			require.ErrorIs(t, leader.NewSelector(c, "/l", opt).Run(ctx, idle), zk.ErrBadArguments)
		}
		require.Empty(t, w.Nodes(t, "/l"))
	})
}
