package framework_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// tracerOfMine is nil where somebody has forgotten to make it.
type tracerOfMine struct{}

// An argument that is nil is an error, by name, and no panic deep inside.
func TestNilArgumentsAreErrors(t *testing.T) {
	_, err := framework.New("zk1", framework.WithHooks((*tracerOfMine)(nil)))
	requireConfigError(t, err, "hook")
	_, err = framework.New("zk1", nil)
	requireConfigError(t, err, "option")

	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		ctx := t.Context()
		require.NoError(t, c.WaitConnected(ctx))
		srv.ClearRequests()
		for op, call := range map[string]func() error{
			"create": func() error { _, err := c.Create(ctx, "/a", nil, framework.WithParents(), nil); return err },
			"delete": func() error { return c.Delete(ctx, "/a", 0, framework.WithMissingOK(), nil) },
			"transaction": func() error {
				_, err := c.Transaction(ctx, framework.CreateOp("/a", nil, nil), framework.DeleteOp("/b", 0))
				return err
			},
		} {
			err := call()
			requireConfigError(t, err, "option")
			require.ErrorIs(t, err, zk.ErrBadArguments)
			require.True(t, framework.IsRefusal(err))
			var of *framework.OpError
			require.ErrorAs(t, err, &of)
			require.Equal(t, []string{op, "/a"}, []string{of.Op, of.Path})
		}
		requireConfigError(t, c.InSession(ctx, nil), "function")
		require.Zero(t, srv.CountRequests(zktest.OpCreate)+srv.CountRequests(zktest.OpSetData)+srv.CountRequests(zktest.OpDelete)+srv.CountRequests(zktest.OpMulti))
	})
}

func requireConfigError(t *testing.T, err error, name string) {
	t.Helper()
	var wrong *framework.ConfigError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, name, wrong.Name)
}
