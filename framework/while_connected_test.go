package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// An interruption ends the operation that it meets, and those that begin after it,
// also when there is another connection. A guaranteed delete goes on in the
// background.
func TestOperationsWhileConnectedEndWithTheConnection(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for _, node := range []string{"/a", "/b", "/c"} {
			require.NoError(t, srv.Create(node, nil))
		}
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		under := insider.Of(c).WhileConnected(t.Context(), s.Trusted(state.StandardPolicy))
		require.NoError(t, c.Delete(under, "/a", framework.AnyVersion, framework.WithGuarantee()))
		start := time.Now()
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DropRequest()})
		err = c.Delete(under, "/b", framework.AnyVersion, framework.WithGuarantee())
		require.ErrorIs(t, err, framework.ErrSuspended)
		require.True(t, framework.IsConnectionError(err))
		err = c.Delete(under, "/c", framework.AnyVersion, framework.WithGuarantee())
		require.ErrorIs(t, err, framework.ErrSuspended)
		require.Zero(t, time.Since(start))
		require.NoError(t, under.Err())

		require.NoError(t, c.WaitConnected(t.Context()))
		synctest.Wait()
		require.Empty(t, srv.Children("/")[1:], "all but /zookeeper")
		err = c.Delete(under, "/a", framework.AnyVersion, framework.WithMissingOK())
		require.ErrorIs(t, err, framework.ErrSuspended, "the connection is another one")
		require.True(t, framework.IsConnectionError(err))
		again := insider.Of(c).WhileConnected(t.Context(), s.Trusted(state.StandardPolicy))
		require.NoError(t, c.Delete(again, "/a", framework.AnyVersion, framework.WithMissingOK()))
	})
}

// There was no connection from the beginning.
func TestOperationsWhileConnectedDoNotWaitForAConnection(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		srv.RefuseConnections(true)
		srv.CutAll()
		synctest.Wait()
		start := time.Now()
		under := insider.Of(c).WhileConnected(t.Context(), s.Trusted(state.StandardPolicy))
		_, _, err = c.Get(under, "/")
		require.ErrorIs(t, err, framework.ErrSuspended)
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.Zero(t, time.Since(start))
	})
}
