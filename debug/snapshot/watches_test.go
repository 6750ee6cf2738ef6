package snapshot_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A watch that no server has confirmed is at no server, and a closed client has
// none.
func TestWatchesAreCountedAsSetWhenTheyAre(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, c *framework.Client) {
		_, _, watch, err := c.ExistsW(t.Context(), "/set")
		require.NoError(t, err)
		defer watch.Stop()
		w, err := c.NewWatcher(t.Context(), "/persistent")
		require.NoError(t, err)
		defer w.Close()
		srv.Inject(zktest.Rule{Op: zktest.OpExists, Do: zktest.DelayRequest(time.Second)})
		go c.ExistsW(t.Context(), "/asked")
		synctest.Wait()
		s := one(t, c)
		require.Equal(t, 3, s.Watches.Total)
		require.Equal(t, 2, s.WatchesSet)
		require.Contains(t, asText(t, c), "watches: 3, of which 2 are set\n")

		require.NoError(t, c.Close())
		s = one(t, c)
		require.Zero(t, s.Watches.Total)
		require.Zero(t, s.WatchesSet)
		require.Contains(t, asText(t, c), "no watches\n")
	})
}
