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

func TestClockRate(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.SetClockRate(1.25))
		login(t, srv)
		require.Equal(t, time.Now().Add(8*time.Second), srv.Sessions()[0].Deadline)
	})
}
