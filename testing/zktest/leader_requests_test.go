package zktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// In 3.8 a check that cannot be read is a write, which takes a zxid. It is the
// leader's to make, and needs a majority.
func TestDamagedChecksWaitForALeader(t *testing.T) {
	for name, cut := range map[string]func(ens *Ensemble){
		"no leader": func(ens *Ensemble) {
			require.NoError(t, ens.Partition(ens.Members()[0])) // it follows for a while
			require.NoError(t, ens.Leader().Stop())             // behind the partition
		},
		"no majority": func(ens *Ensemble) {
			require.NoError(t, ens.Partition(ens.Members()[0]))
			require.NoError(t, ens.Partition(ens.Members()[1]))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ensembleBubble(t, 3, func(t *testing.T, ens *Ensemble) {
				c := login(t, ens.Members()[0].Server)
				cut(ens)
				before := ens.Members()[2].Zxid()
				c.send(wire.OpCheck)
				synctest.Wait()
				require.Equal(t, before, ens.Members()[2].Zxid())
				ens.Heal()
				require.NoError(t, ens.Restart())
			}, WithVersion(Version380))
		})
	}
	ensembleBubble(t, 3, func(t *testing.T, ens *Ensemble) {
		c := login(t, ens.Members()[0].Server)
		before := ens.Leader().Zxid()
		c.send(wire.OpCheck)
		synctest.Wait()
		require.Equal(t, before+1, ens.Leader().Zxid())
	}, WithVersion(Version380))
}

// A leader that has lost its majority, and does not know it yet, answers syncs.
// The follower that hands one on waits for what this leader has made.
func TestSyncWaitsForALeaderWithoutMajority(t *testing.T) {
	ensembleBubble(t, 5, func(t *testing.T, ens *Ensemble) {
		leader, follower := ens.Leader(), ens.Members()[0]
		c := login(t, follower.Server)
		require.NoError(t, follower.Lag(200*time.Millisecond))
		require.NoError(t, leader.Create("/a", nil))
		require.NoError(t, ens.Partition(leader, follower))
		require.Equal(t, wire.OK, c.call(wire.OpSync, "/").code)
		require.Equal(t, wire.OK, c.call(wire.OpExists, "/a", false).code)
	})
}
