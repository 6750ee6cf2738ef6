package framework_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// refusesSetWatches makes a server answer with an error when it is asked to set
// watches again.
func refusesSetWatches(srv *zktest.Server, code zktest.Code) *zktest.Injection {
	return srv.Inject(zktest.Rule{Op: zktest.OpSetWatches, Times: -1, Do: zktest.Fail(code)})
}

// Looks are made with the same request. Where it is refused, each watch is looked
// at by a read, and the connection goes on.
func TestLookThatIsRefusedIsMadeByReads(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/n", nil))
		_, _, w, err := c.GetW(t.Context(), "/n")
		require.NoError(t, err)
		hits := refusesSetWatches(srv, zktest.ErrSystem)
		time.Sleep(time.Hour)
		require.False(t, fired(w))
		inSilence(t, srv, "/n", func() { require.NoError(t, srv.Set("/n", nil)) })
		ev, err := w.Wait(within(t, untold))
		require.NoError(t, err)
		require.Equal(t, zk.EventNodeDataChanged, ev.Type)
		require.Positive(t, hits.Hits())
		require.Equal(t, 1, srv.Connections())
		require.Equal(t, 1, srv.CountRequests(zktest.OpConnect)-1, "no other connection of this client")
	})
}
