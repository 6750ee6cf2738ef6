package zktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestWallClockIsWrittenIntoNodes(t *testing.T) {
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	srv := Start(t, WithWallClock(func() time.Time { return at }))
	require.NoError(t, srv.Create("/a", nil))
	srv.SetClockOffset(time.Hour)
	require.NoError(t, srv.Set("/a", []byte("b")))
	n, _ := srv.Node("/a")
	require.Equal(t, at.UnixMilli(), n.Stat.Ctime)
	require.Equal(t, at.Add(time.Hour).UnixMilli(), n.Stat.Mtime)
	_, err := Run(WithWallClock(nil))
	require.ErrorContains(t, err, "nil clock")
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

// A deadline that comes nearer is kept, too.
func TestFasterClockShortensATimeoutThatRuns(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv) // for 10 s
		require.NoError(t, srv.SetClockRate(10))
		c.call(wire.OpPing) // from now on for 1 s
		require.WithinDuration(t, time.Now().Add(time.Second), srv.Sessions()[0].Deadline, 0)
		time.Sleep(time.Second - 1)
		require.Len(t, srv.Sessions(), 1)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Empty(t, srv.Sessions())
	})
}

func TestClockThatHardlyMovesEndsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.SetClockRate(1e-9))
		login(t, srv)
		time.Sleep(365 * 24 * time.Hour)
		require.Len(t, srv.Sessions(), 1)
	})
}

// The leader decides on sessions, also on those that begin at another member.
func TestRateOfAFollowerDoesNotCount(t *testing.T) {
	ensembleBubble(t, 3, func(t *testing.T, ens *Ensemble) {
		require.NoError(t, ens.Members()[0].SetClockRate(10))
		login(t, ens.Members()[0].Server)
		time.Sleep(9 * time.Second)
		require.Len(t, ens.Leader().Sessions(), 1)
	})
}

func TestClockThatJumpsBackGivesMoreTime(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		login(t, srv) // for 10 s
		srv.JumpClock(-5 * time.Second)
		time.Sleep(15*time.Second - time.Nanosecond)
		require.Len(t, srv.Sessions(), 1)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Empty(t, srv.Sessions())
	})
}
