package zktest

import (
	"testing"
	"testing/synctest"

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

func ensembleBubble(t *testing.T, n int, test func(t *testing.T, ens *Ensemble), opts ...Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, StartEnsemble(t, n, opts...)) })
}

func modes(ens *Ensemble) (modes []string) {
	for _, m := range ens.Members() {
		modes = append(modes, m.Mode())
	}
	return modes
}
