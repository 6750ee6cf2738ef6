package zktest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// In real time: nothing happens by itself.
func TestClockStandsStillUntilMoved(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := NewClock(start)
	srv := Start(t, WithClock(clock))
	c := login(t, srv)
	require.Equal(t, start.Add(10*time.Second), srv.Sessions()[0].Deadline)
	require.Equal(t, wire.OK, c.create("/e", 1).code)
	node, _ := srv.Node("/e")
	require.Equal(t, start.UnixMilli(), node.Stat.Ctime)
	clock.Advance(10*time.Second - 1)
	require.Len(t, srv.Sessions(), 1)
	clock.Advance(1)
	srv.AssertNoSessions(t)
	srv.AssertNoNodes(t, "/")
	c.requireClosed()
	require.Equal(t, start.Add(10*time.Second), clock.Now())
}

func TestClockMovesDelaysAndTheReaper(t *testing.T) {
	clock := NewClock(time.Now())
	srv := Start(t, WithClock(clock))
	c := login(t, srv)
	srv.Inject(Rule{Op: wire.OpExists, Do: All(DelayRequest(time.Second), DelayReply(time.Second))})
	xid := c.send(wire.OpExists, "/", false)
	for range 2 {
		require.NoError(t, clock.WaitTimers(t.Context(), 2), "the session's and the delay's")
		clock.Advance(time.Second)
	}
	require.Equal(t, xid, c.receive().xid)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, clock.WaitTimers(ctx, 10), context.Canceled)

	require.Equal(t, wire.OK, c.call(wire.OpCreateContainer, "/c", []byte{}, datatree.OpenACL, 4).code)
	require.Equal(t, wire.OK, c.create("/c/a", 0).code)
	require.Equal(t, wire.OK, c.call(wire.OpDelete, "/c/a", -1).code)
	clock.Advance(time.Minute)
	srv.AssertNoNodes(t, "/")
}

func TestClockGoesThroughTimeInOrder(t *testing.T) {
	clock := NewClock(time.Time{})
	var seen []int
	mark := func(i int) func() { return func() { seen = append(seen, i) } }
	clock.afterFunc(2, mark(2))
	clock.afterFunc(1, func() {
		mark(1)()
		clock.afterFunc(1, mark(3)) // at the same time as the other, and behind it
	})
	stop := clock.afterFunc(2, mark(9))
	require.True(t, stop())
	require.False(t, stop())
	clock.Advance(5)
	require.Equal(t, []int{1, 2, 3}, seen)
}

func TestEnsembleByAClock(t *testing.T) {
	clock := NewClock(time.Now())
	ens := StartEnsemble(t, 3, WithClock(clock))
	old := ens.Leader()
	old.Isolate()
	clock.Advance(DefaultSyncLimit*DefaultTick + DefaultElectionTime)
	require.Equal(t, 2, ens.Leader().ID())
	clock.Advance(DefaultTick)
	require.Equal(t, "looking", old.Mode())
}

func TestClockOffsetMovesStatsAndNotSessions(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		deadline := srv.Sessions()[0].Deadline
		srv.SetClockOffset(-time.Hour)
		require.NoError(t, srv.Create("/a", nil))
		node, _ := srv.Node("/a")
		require.Equal(t, time.Now().Add(-time.Hour).UnixMilli(), node.Stat.Mtime)
		require.Equal(t, deadline, srv.Sessions()[0].Deadline)
		srv.SetClockOffset(0)
		require.Equal(t, wire.OK, c.call(wire.OpCreateTTL, "/t", []byte{}, datatree.OpenACL, 5, int64(60_000)).code)
		require.Zero(t, srv.ReapContainers())
		srv.SetClockOffset(2 * time.Minute)
		require.Equal(t, 1, srv.ReapContainers(), "the age of a node is by the wall clock")
	})
}

func TestJumpClockExpiresSessions(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		login(t, srv)
		srv.JumpClock(9 * time.Second)
		require.Len(t, srv.Sessions(), 1)
		time.Sleep(time.Second)
		synctest.Wait()
		srv.AssertNoSessions(t)
		login(t, srv)
		srv.JumpClock(10 * time.Second)
		srv.AssertNoSessions(t)
	})
}

func TestJumpOfAFollowerExpiresNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := StartEnsemble(t, 3)
		login(t, ens.Members()[0].Server)
		ens.Members()[0].JumpClock(time.Hour)
		require.Len(t, ens.Leader().Sessions(), 1)
		ens.Leader().JumpClock(time.Hour)
		ens.Members()[0].AssertNoSessions(t)
	})
}

func TestClockRate(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.SetClockRate(1.25))
		login(t, srv)
		require.Equal(t, time.Now().Add(8*time.Second), srv.Sessions()[0].Deadline)
	})
}

// Sessions whose time is up at the same tick end in the order of their
// beginning.
func TestSessionsEndInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		for range 5 {
			require.Equal(t, wire.OK, login(t, srv).create("/e-", 3).code)
		}
		watcher := dialRaw(t, srv)
		watcher.handshake(0, 100_000, 0, nil)
		for i := range 5 {
			watcher.call(wire.OpExists, srv.Sessions()[i].Ephemerals[0], true)
		}
		want := []string{}
		for i := range 5 {
			want = append(want, srv.Sessions()[i].Ephemerals[0])
		}
		var got []string
		for range 5 {
			got = append(got, watcher.receive().event().Path)
		}
		require.Equal(t, want, got)
	}, WithTick(time.Second))
}
