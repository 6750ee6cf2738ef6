package zktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A real server ends its connection of a session before it looks at the
// password, with or without a majority (ZooKeeperServer.processConnectRequest).
func TestWrongPasswordEndsTheConnection(t *testing.T) {
	nothing := func(*testing.T, *Ensemble) {}
	for name, tc := range map[string]struct {
		member    int
		meanwhile func(t *testing.T, ens *Ensemble)
	}{
		"of a leader":                       {5, nothing},
		"of a follower":                     {4, nothing},
		"of a leader without a majority":    {5, leaveTwo},
		"of a follower of one":              {4, leaveTwo},
		"of a leader that was deposed":      {5, depose},
		"of a follower of a deposed leader": {4, depose},
	} {
		t.Run(name, func(t *testing.T) {
			inFive(t, tc.member, func(t *testing.T, ens *Ensemble, m *Member, c *raw) {
				tc.meanwhile(t, ens)
				requireWrongPasswordEnds(t, m, c)
				again := dialRaw(t, m.Server)
				require.True(t, again.handshake(0, 10_000, c.session, c.password))
				require.Equal(t, c.session, again.session, "nobody else has ended the session")
				requireWrongPasswordEnds(t, m, again)
			})
		})
	}
}

// inFive runs a test of five members, the last of which leads, with a client of
// one of them.
func inFive(t *testing.T, member int, test func(t *testing.T, ens *Ensemble, m *Member, c *raw)) {
	synctest.Test(t, func(t *testing.T) {
		ens := StartEnsemble(t, 5, WithSyncLimit(100))
		m := ens.Members()[member-1]
		test(t, ens, m, login(t, m.Server))
	})
}

// leaveTwo cuts the leader and one follower off, who do not know that yet.
func leaveTwo(t *testing.T, ens *Ensemble) {
	require.NoError(t, ens.Partition(ens.Members()[3:]...))
}

// depose has the other three elect a leader, too.
func depose(t *testing.T, ens *Ensemble) {
	leaveTwo(t, ens)
	for _, m := range ens.Members()[:3] { // they notice at once
		require.NoError(t, m.Restart())
	}
	next, err := ens.WaitLeader(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, next.ID())
	require.Equal(t, "leader", ens.Members()[4].Mode())
}

func requireWrongPasswordEnds(t *testing.T, m *Member, c *raw, more ...byte) {
	t.Helper()
	r := dialRaw(t, m.Server)
	require.True(t, r.handshake(0, 10_000, c.session, make([]byte, passwordSize), more...))
	require.Zero(t, r.session)
	r.requireClosed()
	requireClosedNow(t, c)
}

func requireClosedNow(t *testing.T, c *raw) {
	t.Helper()
	begun := time.Now()
	c.requireClosed()
	require.Zero(t, time.Since(begun))
}
