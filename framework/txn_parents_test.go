package framework_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// However many nodes of a transaction have no parent, the client makes them all.
func TestTransactionMakesTheParentsOfAllItsNodes(t *testing.T) {
	bubble(t, func(t *testing.T, _ *zktest.Server, c *framework.Client) {
		var ops []framework.TxnOp
		for i := range 20 {
			ops = append(ops, framework.CreateOp(fmt.Sprintf("/new/%d/n", i), nil, framework.WithParents()))
		}
		results, err := c.Transaction(t.Context(), ops...)
		require.NoError(t, err)
		require.Len(t, results, 20)
	})
}
