package zktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// TestQuotasConform shows what quotas are; this test is about their books: a
// multi that fails leaves the books as they were.
func TestQuotaBooksAreRolledBack(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		const quota = "/zookeeper/quota/q"
		require.NoError(t, srv.Create("/q/old", []byte("12345")))
		require.NoError(t, srv.Create(quota+"/zookeeper_limits", []byte("count=-1,bytes=-1=;countHardLimit=4")))
		require.NoError(t, srv.Create(quota+"/zookeeper_stats", nil))
		books := func() string {
			n, _ := srv.Node(quota + "/zookeeper_stats")
			return string(n.Data)
		}
		require.Equal(t, "count=2,bytes=5", books())
		c := login(t, srv)
		c.call(wire.OpMulti, wire.OpCreate, "/q/new", []byte("1"), datatree.OpenACL, 0, wire.OpSetData, "/q/old", []byte("1"), -1,
			wire.OpDelete, quota+"/zookeeper_limits", -1, wire.OpCheck, "/none", 0, wire.OpError)
		require.Equal(t, "count=2,bytes=5", books())
		require.Contains(t, srv.tree.Quotas(), "/q")
		c.create("/q/a", 0)
		c.create("/q/b", 0)
		require.Equal(t, wire.ErrQuotaExceeded, c.create("/q/c", 0).code)
		require.Equal(t, "count=4,bytes=13", books())
		require.NoError(t, srv.Delete(quota))
		require.Equal(t, wire.OK, c.create("/q/c", 0).code)
	}, WithEnforcedQuotas())
}
