package framework

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// The answer to a look may be older than the newest creation of the node.
func TestNodeThatWasMadeAnewDuringALookCounts(t *testing.T) {
	var e ephemerals
	e.add("/n")
	looked := e.listLocked()
	e.removeLocked("/n")
	e.add("/n")
	e.remove(looked[0].path, looked[0].number)
	require.Len(t, e.paths, 1)
	require.Equal(t, pathHeader+len("/n"), e.size)
}

// The client learns of a node by a look, because the reply to the request was
// lost.
func TestNodeThatWasFoundByALookCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := New(srv.Addr(), WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DropReply()})
		made, err := c.Transaction(t.Context(), CreateOp("/e", nil, WithMode(Ephemeral), WithProtection()))
		require.NoError(t, err)
		s := made[0].Session
		s.ephemerals.mu.Lock()
		defer s.ephemerals.mu.Unlock()
		require.Contains(t, s.ephemerals.paths, made[0].Path)
	})
}
