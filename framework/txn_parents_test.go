package framework_test

import (
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// However many nodes of a transaction have no parent, the client makes them all.
func TestTransactionMakesTheParentsOfAllItsNodes(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		var ops []framework.TxnOp
		for i := range 20 {
			ops = append(ops, framework.CreateOp(fmt.Sprintf("/new/%d/n", i), nil, framework.WithParents()))
		}
		results, err := c.Transaction(t.Context(), ops...)
		require.NoError(t, err)
		require.Len(t, results, 20)
		require.Equal(t, 2, srv.CountRequests(zktest.OpMulti), "it is sent whole each time")
		require.LessOrEqual(t, srv.CountRequests(zktest.OpExists), 20+1, "what is there is asked for once")
	})
}

// A parent that the transaction makes by itself is not in its way.
func TestTransactionMakesNoParentThatItMakesByItself(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		_, err := c.Transaction(t.Context(),
			framework.CreateOp("/a/n", nil, framework.WithParents()),
			framework.CreateOp("/own", nil),
			framework.CreateOp("/own/n", nil, framework.WithParents()),
			framework.CreateOp("/b/n", nil, framework.WithParents()),
			framework.SetOp("/own", nil, 0))
		require.NoError(t, err)
		require.Equal(t, 2, srv.CountRequests(zktest.OpMulti))
	})
}

// A sequential or protected node has another name than its operation, and is no parent
// of a node below that name.
func TestTransactionMakesAParentThatAnOperationOnlySeemsToMake(t *testing.T) {
	for name, opt := range map[string]framework.CreateOption{
		"sequential": framework.WithMode(framework.PersistentSequential),
		"protected":  framework.WithProtection(),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				_, err := c.Transaction(t.Context(),
					framework.CreateOp("/n", nil, opt),
					framework.CreateOp("/n/below", nil, framework.WithParents()))
				require.NoError(t, err)
				require.Equal(t, []string{"below"}, srv.Children("/n"))
			})
		})
	}
}

// A parent that the client may not create makes the transaction fail with an error
// that names the operation below it, like every refusal.
func TestTransactionNamesTheOperationWhoseParentIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/closed", "", framework.WithACL(zk.WorldACL(zk.PermRead)))
		_, err := c.Transaction(t.Context(),
			framework.CreateOp("/open/n", nil, framework.WithParents()),
			framework.CreateOp("/closed/a/n", nil, framework.WithParents()))
		require.ErrorIs(t, err, zk.ErrNoAuth)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		var failed *framework.TxnError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, 1, failed.Index)
		require.Equal(t, "/closed/a/n", failed.Path)
	})
}
