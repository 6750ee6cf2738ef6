package leader_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/leader"
)

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
