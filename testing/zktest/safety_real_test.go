//go:build real

package zktest

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func dialTCP(t *testing.T, srv *Server) *raw {
	t.Helper()
	nc, err := net.Dial("tcp", srv.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { nc.Close() })
	require.NoError(t, nc.SetDeadline(time.Now().Add(5*time.Minute)))
	return &raw{t: t, nc: nc}
}
