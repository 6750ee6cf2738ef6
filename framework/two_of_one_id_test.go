package framework_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// twice makes a second node of the id of the next create, whose reply is lost.
func twice(t *testing.T, srv *zktest.Server, do ...zktest.Action) {
	t.Helper()
	require.NoError(t, srv.Create("/p", nil))
	second := zktest.CallAfter(func(r zktest.Request) {
		require.NoError(t, srv.Create(r.Path+"0000000099", nil))
	})
	srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.All(append(do, second, zktest.DropReply())...)})
}

func TestProtectedCreateKeepsOneNodeOfItsId(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		twice(t, srv)
		n := mustCreate(t, c, "/p/n-", "", framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
		time.Sleep(time.Second)
		require.Equal(t, []string{n.Path[len("/p/"):]}, srv.Children("/p"))
		require.Contains(t, n.Path, "n-0000000000")
	})
}

// Promise: An abandoned protected create leaves no node, even if the request was applied twice.
func TestCleanUpDeletesAllNodesOfAnId(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		twice(t, srv, zktest.Call(func(zktest.Request) { cancel() }))
		_, err := c.Create(ctx, "/p/n-", nil,
			framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		time.Sleep(time.Second)
		require.Empty(t, srv.Children("/p"))
	})
}
