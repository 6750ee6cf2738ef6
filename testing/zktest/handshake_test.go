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
		zxid := srv.Stats().Zxid
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Empty(t, srv.Sessions())
		require.Empty(t, srv.Tree())
		require.Equal(t, zxid+1, srv.Stats().Zxid, "the end of a session is one transaction")
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
		require.Equal(t, srv.Stats().Zxid, r.zxid)
		c.requireClosed()
		require.Empty(t, srv.Tree())
		require.Empty(t, srv.Sessions())
	})
}
