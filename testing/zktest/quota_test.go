package zktest

import (
	"testing"
	"testing/synctest"

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

func TestQuotasAreNotEnforcedByDefault(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.Create("/zookeeper/quota/q/zookeeper_limits", []byte("countHardLimit=0")))
		require.NoError(t, srv.Create("/zookeeper/quota/q/zookeeper_stats", nil))
		require.NoError(t, srv.Create("/q", nil))
	})
}

// Every member of an ensemble keeps the same books: one that repeats each
// transaction, late, and one that joins when everything is there. The quota
// holds whoever leads.
func TestQuotasOfAnEnsemble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := StartEnsemble(t, 3, WithEnforcedQuotas())
		first, joins, lags := ens.Leader(), ens.Members()[1], ens.Members()[0]
		joins.Stop()
		lags.Lag(defaultTick)
		const stats = "/zookeeper/quota/q/zookeeper_stats"
		require.NoError(t, first.Create("/q/old", []byte("12345")))
		require.NoError(t, first.Create("/zookeeper/quota/q/zookeeper_limits", []byte("countHardLimit=4")))
		require.NoError(t, first.Create(stats, nil))
		c := login(t, lags.Server)
		require.Equal(t, wire.OK, c.create("/q/a", 0).code)
		require.Equal(t, wire.OK, c.call(wire.OpSetData, "/q/old", []byte("1"), -1).code)
		require.Equal(t, wire.OK, c.create("/q/b", 0).code)
		require.Equal(t, wire.OK, c.call(wire.OpDelete, "/q/b", -1).code)

		books := func() (all []string) {
			for _, m := range ens.Members() {
				n, _ := m.Node(stats)
				all = append(all, string(n.Data))
			}
			return all
		}
		joins.Restart()
		require.NoError(t, ens.WaitAgreement(t.Context()))
		require.Equal(t, []string{"count=3,bytes=5", "count=3,bytes=5", "count=3,bytes=5"}, books())

		first.Stop()
		leader, err := ens.WaitLeader(t.Context())
		require.NoError(t, err)
		require.Equal(t, joins, leader)
		c = login(t, lags.Server)
		require.Equal(t, wire.OK, c.create("/q/b", 0).code)
		require.Equal(t, wire.ErrQuotaExceeded, c.create("/q/c", 0).code)
		first.Restart()
		require.NoError(t, ens.WaitAgreement(t.Context()))
		require.Equal(t, []string{"count=4,bytes=9", "count=4,bytes=9", "count=4,bytes=9"}, books())
		require.NoError(t, first.Delete("/zookeeper/quota/q"))
		require.NoError(t, ens.WaitAgreement(t.Context()))
		for _, m := range ens.Members() {
			require.Empty(t, m.tree.Quotas())
		}
	})
}
