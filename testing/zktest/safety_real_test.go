//go:build real

package zktest

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func dialTCP(t *testing.T, srv *Server) *raw {
	t.Helper()
	nc, err := net.Dial("tcp", srv.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { nc.Close() })
	require.NoError(t, nc.SetDeadline(time.Now().Add(5*time.Minute)))
	return &raw{t: t, nc: nc}
}

func TestTCPWithoutAHostIsLoopback(t *testing.T) {
	host, _, err := net.SplitHostPort(Start(t, WithTCP(":0")).Addr())
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1", host)
}

// Bytes that the kernel does not take at once are sent later, in order and
// complete.
func TestAnswersOverTCPToAClientThatReadsLate(t *testing.T) {
	srv := Start(t, WithTCP(":0"))
	data := make([]byte, 300<<10)
	for i := range data {
		data[i] = byte(i * i >> 8)
	}
	require.NoError(t, srv.Create("/big", data))
	c := dialTCP(t, srv)
	c.handshake(0, hour, 0, nil)
	const requests = 100
	for i := range requests {
		c.send(wire.OpGetData, "/big", false)
		want := i + 1
		require.NoError(t, srv.WaitFor(t.Context(), func() bool { return srv.CountRequests(wire.OpGetData) == want }), "one by one")
	}
	for i := range requests {
		r := c.receive()
		require.EqualValues(t, i+1, r.xid)
		require.Equal(t, data, r.body.Buffer())
	}
	require.Zero(t, srv.queued.Load())
}
