package sharednode_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/sharednode"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// A node is found to be missing, and the client learns of a later transaction
// at the same moment. The node may have been created between the two, so it was
// missing as of what was known before.
func TestAbsenceIsAsOfWhatWasKnownBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv)
		for range 50 {
			require.NoError(t, c.Sync(t.Context(), "/"))
			known := c.LastZxid()
			srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayReply(time.Second)})
			created := make(chan error, 1)
			time.AfterFunc(time.Second/2, func() {
				_, err := c.Create(t.Context(), "/other", nil)
				created <- err
			})
			n := sharednode.Node{Client: c, Path: "/n"}
			s, err := n.Read(t.Context())
			require.NoError(t, err)
			require.False(t, s.Exists)
			require.Equal(t, known, s.From)
			require.NoError(t, <-created)
			require.NoError(t, srv.Delete("/other"))
		}
	})
}
