package zktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// A test may look right after a client has closed its session, without waiting
// for the connection to end.
func TestClosedSessionLeavesNoWatches(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(wire.OpExists, "/x", true)
		srv.Inject(Rule{Op: wire.OpCloseSession, Do: DelayReply(time.Second)})
		c.send(wire.OpCloseSession)
		synctest.Wait()
		require.Equal(t, 1, srv.Stats().Connections)
		require.Empty(t, srv.Watches())
		require.Empty(t, srv.Sessions())
		require.Equal(t, wire.OK, c.receive().code)
	})
}
