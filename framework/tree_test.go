package framework_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// makeTree creates a node with levels of nodes below it, each with so many
// children.
func makeTree(t *testing.T, ctx context.Context, c *framework.Client, path string, levels, children int) {
	t.Helper()
	ops := []framework.TxnOp{framework.CreateOp(path, nil)}
	var grow func(path string, levels int)
	grow = func(path string, levels int) {
		for i := range children {
			if levels > 0 {
				child := path + "/" + strconv.Itoa(i)
				ops = append(ops, framework.CreateOp(child, nil))
				grow(child, levels-1)
			}
		}
	}
	grow(path, levels)
	_, err := c.Transaction(ctx, ops...)
	require.NoError(t, err)
}
