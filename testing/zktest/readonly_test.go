package zktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// inMinority runs a test of a member that is read-only, and that the other two
// cannot reach. The ensemble has a session, which the member knows.
func inMinority(t *testing.T, test func(t *testing.T, ens *Ensemble, alone *Member, global *raw)) {
	synctest.Test(t, func(t *testing.T) {
		ens := StartEnsemble(t, 3, WithReadOnlyMode())
		global := login(t, ens.Leader().Server)
		require.Equal(t, wire.OK, global.create("/e", 1).code)
		alone := ens.Members()[0]
		ens.Partition(alone)
		time.Sleep(defaultSyncLimit*defaultTick + readOnlyGrace - time.Nanosecond)
		synctest.Wait()
		require.Equal(t, "looking", alone.Mode())
		dialRaw(t, alone.Server).requireClosed()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, "read-only", alone.Mode())
		test(t, ens, alone, global)
	})
}

// loginReadOnly opens a session at a member that is read-only.
func loginReadOnly(t *testing.T, m *Member) *raw {
	t.Helper()
	c := dialRaw(t, m.Server)
	require.True(t, c.handshake(0, 10_000, 0, nil, agrees))
	require.NotZero(t, c.session)
	return c
}

func TestReadOnlyMemberServesReads(t *testing.T) {
	inMinority(t, func(t *testing.T, ens *Ensemble, alone *Member, global *raw) {
		require.Equal(t, wire.OK, global.create("/later", 0).code)
		c := loginReadOnly(t, alone)
		require.Equal(t, wire.OK, c.call(wire.OpExists, "/e", false).code)
		require.Equal(t, wire.ErrNoNode, c.call(wire.OpExists, "/later", true).code)
		require.Equal(t, wire.ErrNotReadOnly, c.create("/b", 0).code)
		log := alone.Requests()
		require.Equal(t, wire.ErrNotReadOnly, log[len(log)-1].Err)

		require.Len(t, ens.Leader().Sessions(), 1, "the others do not know the session")
		require.Len(t, alone.Sessions(), 2)
		require.Equal(t, alone, ens.Session(c.session).Member())
		require.Equal(t, []Watch{{Session: c.session, Path: "/later"}}, ens.Session(c.session).Watches())

		ens.Heal()
		c.requireClosed()
		require.Equal(t, "follower", alone.Mode())
		require.Len(t, alone.Sessions(), 1)
		require.Empty(t, alone.Watches())
		again := dialRaw(t, alone.Server)
		require.True(t, again.handshake(0, 10_000, c.session, c.password, agrees))
		require.Zero(t, again.session, "the session has ended with the mode")
	})
}
