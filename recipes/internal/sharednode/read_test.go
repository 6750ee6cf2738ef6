package sharednode_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/sharednode"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// A node is found to be missing, and the client learns of a later transaction
// before the read returns: from the answer here, or from that to another request
// right behind it, which may be of after the node's creation. So the node was
// missing as of what was known before.
//
// Promise: A missing node is reported as of the time before the read.
func TestAbsenceIsAsOfWhatWasKnownBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv)
		require.NoError(t, c.Sync(t.Context(), "/"))
		known := c.LastZxid()
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.Call(func(zktest.Request) {
			require.NoError(t, srv.Create("/other", nil))
		})})
		n := sharednode.Node{Client: c, Path: "/n"}
		s, err := n.Read(t.Context())
		require.NoError(t, err)
		require.False(t, s.Exists)
		require.Greater(t, c.LastZxid(), known)
		require.Equal(t, known, s.From)
	})
}
