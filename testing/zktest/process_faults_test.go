package zktest

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
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
		require.Equal(t, "standalone", srv.Stats().Mode)
		d := dialRaw(t, srv)
		require.True(t, d.handshake(0, 10_000, c.session, c.password))
		require.Equal(t, c.session, d.session)
	})
}

// All members are down at the same time, so that no leader lasts.
func TestRestartOfAnEnsemble(t *testing.T) {
	ensembleBubble(t, 3, func(t *testing.T, ens *Ensemble) {
		restart := func() {
			for _, m := range ens.Members() {
				require.NoError(t, m.Stop())
			}
			for _, m := range ens.Members() {
				if err := m.Restart(); err != nil {
					require.ErrorIs(t, err, errClosed)
				}
			}
		}
		c := login(t, ens.Leader().Server)
		c.create("/e", int(wire.FlagEphemeral))
		epoch := ens.Leader().Stats().Zxid >> 32
		require.NoError(t, ens.Members()[0].Stop())
		restart()
		c.requireClosed()
		leader := awaitLeader(t, ens)
		require.Equal(t, 3, leader.ID())
		require.NoError(t, zkinside.Of(ens).AwaitAgreement(t.Context()))
		require.Equal(t, []string{"follower", "follower", "leader"}, modes(ens))
		require.NoError(t, leader.Create("/later", nil))
		require.Greater(t, leader.Stats().Zxid>>32, epoch)
		require.Equal(t, []string{"/e"}, zkinside.Of(ens).Ephemerals(c.session))

		require.NoError(t, ens.Members()[1].Close())
		restart()
		awaitLeader(t, ens)
		require.Equal(t, []string{"follower", "stopped", "leader"}, modes(ens), "it is away for good")
	})
}

// awaitLeader waits until a member leads with a majority, and returns it.
func awaitLeader(t *testing.T, ens *Ensemble) *Member {
	t.Helper()
	require.NoError(t, ens.WaitFor(t.Context(), func() bool { return ens.Leader() != nil }))
	return ens.Leader()
}

func ensembleBubble(t *testing.T, n int, test func(t *testing.T, ens *Ensemble), opts ...Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, StartEnsemble(t, n, opts...)) })
}

func modes(ens *Ensemble) (modes []string) {
	for _, m := range ens.Members() {
		modes = append(modes, m.Stats().Mode)
	}
	return modes
}
