package recipes_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
)

// A term's work runs under the leadership, and its error is Run's. The node goes when the work has returned.
func TestSelectorRunsTheWorkWhileItLeads(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		ctx, path := w.patience(t), path(t)
		c, _ := w.connect(t)
		selector := recipes.NewLeaderSelector(c, path, recipes.WithID("one"))
		failed := errors.New("work failed")
		err := selector.Run(ctx, func(ctx context.Context) error {
			lease, ok := recipes.LeaseFromContext(ctx)
			require.True(t, ok)
			require.Same(t, lease, selector.Leadership())
			require.ErrorIs(t, selector.Run(ctx, func(context.Context) error { return nil }), recipes.ErrRunning)
			leader, err := selector.Leader(ctx)
			require.NoError(t, err)
			require.Equal(t, "one", leader.ID())
			require.Equal(t, lease.FencingToken(), leader.Token)
			return failed
		})
		require.Equal(t, failed, err)
		require.Nil(t, selector.Leadership())
		_, err = selector.Leader(ctx)
		require.ErrorIs(t, err, recipes.ErrNoLeader)
		w.nothingLeft(t, path)
	})
}

// A path, options and work that cannot be used are errors before anything is done.
func TestSelectorThatCannotRun(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		c, _ := w.connect(t)
		require.ErrorIs(t, recipes.NewLeaderSelector(c, "relative").Run(ctx, idle), zk.ErrInvalidPath)
		require.ErrorIs(t, recipes.NewLeaderSelector(c, "/l").Run(ctx, nil), zk.ErrBadArguments)
		for _, opt := range []recipes.LockOption{
			recipes.WithGrace(-1), recipes.WithRequeue(nil), recipes.WithOverrunReport(0), recipes.Revocable(), nil,
		} {
			require.ErrorIs(t, recipes.NewLeaderSelector(c, "/l", opt).Run(ctx, idle), zk.ErrBadArguments)
		}
		require.Empty(t, w.nodes(t, "/l"))
	})
}
