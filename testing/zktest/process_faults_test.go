package zktest

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// A server that runs is stopped first, as a real one is: its clients lose their
// connections and keep their sessions.
func TestRestartOfAServerThatRuns(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.NoError(t, srv.Pause())
		require.NoError(t, srv.Restart())
		c.requireClosed()
		require.Equal(t, "standalone", srv.Mode())
		d := dialRaw(t, srv)
		require.True(t, d.handshake(0, 10_000, c.session, c.password))
		require.Equal(t, c.session, d.session)
	})
}

func TestServerThatDoesNotRun(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.Stop())
		require.NoError(t, srv.Stop())
		require.ErrorIs(t, srv.Pause(), ErrNotRunning)
		require.ErrorIs(t, srv.Resume(), ErrNotRunning)
		require.NoError(t, srv.Restart())
		require.Equal(t, "standalone", srv.Mode(), "the pause came too early to count")
		require.NoError(t, srv.Resume())

		require.NoError(t, srv.Close())
		require.NoError(t, srv.Stop())
		require.ErrorIs(t, srv.Restart(), ErrClosed)
		require.ErrorIs(t, srv.Restart(), net.ErrClosed)
		require.ErrorIs(t, srv.Pause(), ErrNotRunning)
		require.ErrorIs(t, srv.Resume(), ErrNotRunning)
		require.ErrorIs(t, srv.StartFaults(ChaosPlan{}), ErrClosed)
	})
}

// All members are down at the same time, so that no leader lasts.
func TestRestartOfAnEnsemble(t *testing.T) {
	ensembleBubble(t, 3, func(t *testing.T, ens *Ensemble) {
		c := login(t, ens.Leader().Server)
		c.create("/e", int(wire.FlagEphemeral))
		epoch := ens.Leader().Zxid() >> 32
		require.NoError(t, ens.Members()[0].Stop())
		require.NoError(t, ens.Restart())
		c.requireClosed()
		leader, err := ens.WaitLeader(t.Context())
		require.NoError(t, err)
		require.Equal(t, 3, leader.ID())
		require.Equal(t, []string{"follower", "follower", "leader"}, modes(ens))
		require.NoError(t, leader.Create("/later", nil))
		require.Greater(t, leader.Zxid()>>32, epoch)
		require.Equal(t, []string{"/e"}, ens.Session(c.session).Ephemerals())

		require.NoError(t, ens.Members()[1].Close())
		require.NoError(t, ens.Restart())
		_, err = ens.WaitLeader(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"follower", "stopped", "leader"}, modes(ens), "it is away for good")

		require.NoError(t, ens.Close())
		require.ErrorIs(t, ens.Restart(), ErrClosed)
	})
}

// A pause is the process's: what happens to its part in the ensemble shows
// when it goes on.
func TestPausedMembersKeepTheirConnections(t *testing.T) {
	t.Run("reconfig", func(t *testing.T) {
		reconfigurable(t, 0, func(t *testing.T, ens *Ensemble) {
			op := operator(t, ens.Members()[1])
			c := login(t, ens.Members()[0].Server)
			require.NoError(t, ens.Members()[0].Pause())
			require.Equal(t, wire.OK, op.reconfig(joining(1, "observer"), ""))
			c.requireSilence()
			require.NoError(t, ens.Members()[0].Resume())
			c.requireClosed()
			require.Eventually(t, func() bool { return ens.Members()[0].Mode() == "observer" }, time.Minute, time.Second)
		})
	})
	t.Run("resign", func(t *testing.T) {
		ensembleBubble(t, 3, func(t *testing.T, ens *Ensemble) {
			leader := ens.Leader()
			c := login(t, leader.Server)
			require.NoError(t, leader.Pause())
			require.False(t, leader.Resign(), "nobody can ask it")
			c.requireSilence()
		})
	})
}

func TestPartitionsOnlyAddCuts(t *testing.T) {
	ensembleBubble(t, 5, func(t *testing.T, ens *Ensemble) {
		ms := ens.Members()
		require.NoError(t, ens.Partition(ms[0]))
		require.NoError(t, ens.Partition(ms[0], ms[1]))
		require.False(t, ms[0].Reaches(ms[1]), "the first call has cut them apart")
		require.False(t, ms[1].Reaches(ms[2]))
		require.True(t, ms[2].Reaches(ms[4]))
		require.NoError(t, ens.Partition(ms[1], ms[2], ms[3]))
		require.False(t, ms[1].Reaches(ms[2]), "the second call has cut them apart")
		require.True(t, ms[2].Reaches(ms[3]))
		require.False(t, ms[3].Reaches(ms[4]))
		synctest.Wait()
		ens.Heal()
		for _, m := range ms[1:] {
			require.True(t, ms[0].Reaches(m))
		}
	})
}

func ensembleBubble(t *testing.T, n int, test func(t *testing.T, ens *Ensemble), opts ...Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, StartEnsemble(t, n, opts...)) })
}
