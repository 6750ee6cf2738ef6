package zktest

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// A client that does not read costs a bounded amount of memory.
func TestSlowReaderIsDisconnected(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.NoError(t, srv.Create("/big", make([]byte, 1<<20)))
		for range 100 {
			c.send(wire.OpGetData, "/big", false)
		}
		synctest.Wait()
		require.Zero(t, srv.Stats().Connections)
		require.Len(t, srv.Sessions(), 1)
	})
}
