package zktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestSessionExpiresExactlyAtItsTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.create("/e", int(wire.FlagEphemeral))
		time.Sleep(9 * time.Second)
		c.call(wire.OpPing)
		time.Sleep(10*time.Second - 1)
		synctest.Wait()
		require.Len(t, srv.Sessions(), 1)
		zxid := srv.Zxid()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		srv.AssertNoSessions(t)
		srv.AssertNoNodes(t, "/")
		require.Equal(t, zxid+1, srv.Zxid(), "the end of a session is one transaction")
		require.Equal(t, 1, srv.Stats().Expired)
		srv.ClearRequests()
		require.Zero(t, srv.Stats().Expired)
		c.requireClosed()
	})
}

func TestCloseSessionDeletesEphemeralsAnswersAndCloses(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.create("/e", int(wire.FlagEphemeral))
		r := c.call(wire.OpCloseSession)
		require.Equal(t, wire.OK, r.code)
		require.Equal(t, srv.Zxid(), r.zxid)
		c.requireClosed()
		srv.AssertNoNodes(t, "/")
		srv.AssertNoSessions(t)
	})
}
