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

// A member in a minority cannot know that the others have ended a session.
func TestReadOnlyMemberHangsUpOnSessionsOfTheEnsemble(t *testing.T) {
	inMinority(t, func(t *testing.T, ens *Ensemble, alone *Member, global *raw) {
		renewed := func() bool {
			return dialRaw(t, alone.Server).handshake(0, 10_000, global.session, global.password, agrees)
		}
		require.False(t, renewed())
		require.True(t, ens.Session(global.session).Expire())
		require.False(t, renewed())
		ens.Heal()
		require.True(t, renewed(), "and is told that it is over")
	})
}

func TestReadOnlySessionExpires(t *testing.T) {
	inMinority(t, func(t *testing.T, _ *Ensemble, alone *Member, _ *raw) {
		c := loginReadOnly(t, alone)
		time.Sleep(9 * time.Second)
		require.Equal(t, wire.OK, c.call(wire.OpExists, "/", false).code)
		time.Sleep(9 * time.Second)
		require.Equal(t, wire.OK, c.call(wire.OpExists, "/", false).code, "requests keep it alive")
		time.Sleep(10*time.Second + defaultTick)
		c.requireClosed()
		require.Equal(t, 1, alone.Stats().Expired)

		c = loginReadOnly(t, alone)
		alone.Pause()
		time.Sleep(time.Minute)
		alone.Resume()
		c.requireClosed()

		c = loginReadOnly(t, alone)
		require.True(t, alone.Session(c.session).Expire(), "without a leader")
		c.requireClosed()
	})
}

// What was held ends with the mode, whose sessions no leader knows.
func TestHeldRequestEndsWithReadOnlyMode(t *testing.T) {
	inMinority(t, func(t *testing.T, ens *Ensemble, alone *Member, _ *raw) {
		c := loginReadOnly(t, alone)
		alone.Inject(Rule{Op: wire.OpExists, Do: HoldRequest(time.Second)})
		c.send(wire.OpExists, "/e", false)
		time.Sleep(2 * time.Second)
		zxid := ens.Leader().Zxid()
		ens.Heal()
		require.Equal(t, "follower", alone.Mode())
		require.Equal(t, zxid, ens.Leader().Zxid())
	})
}

// The mode lasts while others stop, and ends with the member's own process.
func TestReadOnlyModeEndsWithTheProcess(t *testing.T) {
	inMinority(t, func(t *testing.T, ens *Ensemble, alone *Member, _ *raw) {
		c := loginReadOnly(t, alone)
		ens.Members()[1].Stop()
		require.Equal(t, wire.OK, c.call(wire.OpExists, "/", false).code)
		alone.Stop()
		c.requireClosed()
		alone.Restart()
		synctest.Wait()
		require.Equal(t, "looking", alone.Mode())
		time.Sleep(readOnlyGrace)
		synctest.Wait()
		require.Equal(t, "read-only", alone.Mode())
	})
}

func TestReadOnlyModeIsOffByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := StartEnsemble(t, 3)
		ens.Partition(ens.Members()[0])
		time.Sleep(time.Hour)
		require.Equal(t, "looking", ens.Members()[0].Mode())
		dialRaw(t, ens.Members()[0].Server).requireClosed()
	})
}
