package zktest

import (
	"bytes"
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
		// One write, because the server may end the connection before a second one.
		c.write(bytes.Repeat(requestFrame(1, wire.OpGetData, "/big", false), 100))
		synctest.Wait()
		require.Zero(t, srv.Stats().Connections)
		require.Len(t, srv.Sessions(), 1)
	})
}
