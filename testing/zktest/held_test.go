package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// A follower stalls with a request, and its client goes. The leader takes the
// request when the follower goes on, as long as the session is that follower's,
// and the follower the leader's.
func TestHeldRequestOfAFollower(t *testing.T) {
	for name, tc := range map[string]struct {
		meanwhile func(t *testing.T, ens *zktest.Ensemble, session int64)
		applied   bool
	}{
		"nothing": {func(*testing.T, *zktest.Ensemble, int64) {}, true},
		"the session is over": {func(t *testing.T, ens *zktest.Ensemble, session int64) {
			require.True(t, ens.Session(session).Expire())
		}, false},
		"another leader": {func(t *testing.T, ens *zktest.Ensemble, _ int64) {
			require.True(t, ens.Leader().Resign())
		}, false},
		"no leader in reach": {func(t *testing.T, ens *zktest.Ensemble, _ int64) {
			require.NoError(t, ens.Partition(ens.Members()[0]))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inEnsemble(t, func(t *testing.T, ens *zktest.Ensemble) {
				follower := ens.Members()[0]
				c := connectTo(t, follower, 9*time.Second)
				session := c.SessionID()
				follower.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.HoldRequest(time.Second)})
				follower.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.Call(func(zktest.Request) {
					follower.RefuseConnections(true)
				})})
				_, err := c.Create("/a", nil, 0, open)
				require.ErrorIs(t, err, zk.ErrConnectionClosed)
				tc.meanwhile(t, ens, session)
				time.Sleep(time.Second)
				synctest.Wait()
				_, found := ens.Members()[1].Node("/a")
				require.Equal(t, tc.applied, found)
				ens.Heal()
				follower.RefuseConnections(false)
			})
		})
	}
}
