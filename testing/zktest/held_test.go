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
		"the same leader again": {func(t *testing.T, ens *zktest.Ensemble, _ int64) {
			require.NoError(t, ens.Partition(ens.Members()[0]))
			time.Sleep(700 * time.Millisecond) // longer than the sync limit
			ens.Heal()
		}, false},
		"a pause of the follower at that time": {func(t *testing.T, ens *zktest.Ensemble, _ int64) {
			time.Sleep(800 * time.Millisecond)
			require.NoError(t, ens.Members()[0].Pause())
			time.Sleep(400 * time.Millisecond)
			require.NoError(t, ens.Members()[0].Resume())
		}, true},
		"no leader in reach at that time": {func(t *testing.T, ens *zktest.Ensemble, _ int64) {
			cutAtThatTime(t, ens, func() {})
		}, true},
		"no leader in reach, and the session is over": {func(t *testing.T, ens *zktest.Ensemble, session int64) {
			cutAtThatTime(t, ens, func() { require.True(t, ens.Session(session).Expire()) })
		}, false},
		"no leader in reach, and then another one": {func(t *testing.T, ens *zktest.Ensemble, _ int64) {
			cutAtThatTime(t, ens, func() { require.True(t, ens.Leader().Resign()) })
		}, false},
		"a pause of the leader at that time": {func(t *testing.T, ens *zktest.Ensemble, _ int64) {
			time.Sleep(800 * time.Millisecond)
			leader := ens.Leader()
			require.NoError(t, leader.Pause())
			time.Sleep(400 * time.Millisecond)
			require.NoError(t, leader.Resume())
		}, true},
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

// cutAtThatTime cuts the follower off when it goes on, for less than the sync
// limit.
func cutAtThatTime(t *testing.T, ens *zktest.Ensemble, meanwhile func()) {
	t.Helper()
	time.Sleep(800 * time.Millisecond)
	require.NoError(t, ens.Partition(ens.Members()[0]))
	time.Sleep(400 * time.Millisecond)
	meanwhile()
	ens.Heal()
}

// holdsCreate returns a server that has cut its client off, and creates /a a
// second later.
func holdsCreate(t *testing.T) *zktest.Server {
	t.Helper()
	srv := zktest.Start(t)
	c := connect(t, srv, 9*time.Second)
	srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.All(
		zktest.Call(func(zktest.Request) { srv.RefuseConnections(true) }), zktest.HoldRequest(time.Second))})
	_, err := c.Create("/a", nil, 0, open)
	require.ErrorIs(t, err, zk.ErrConnectionClosed)
	return srv
}

func TestCloseDoesNotWaitForAHeldRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := holdsCreate(t)
		begun := time.Now()
		require.NoError(t, srv.Close())
		require.Zero(t, time.Since(begun))
	})
}
