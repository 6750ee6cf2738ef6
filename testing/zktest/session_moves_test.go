package zktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// A session that comes back by another way is none of the host's any more.
func TestLoseSessionsThatComeFromElsewhere(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		host := srv.NewHost()
		dial := func() *raw {
			nc, err := host.Dialer()(t.Context(), "tcp", srv.Addr())
			require.NoError(t, err)
			t.Cleanup(func() { nc.Close() })
			require.NoError(t, nc.SetReadDeadline(time.Now().Add(time.Minute)))
			return &raw{t: t, nc: nc}
		}
		a, b := dial(), dial()
		require.True(t, a.handshake(0, 10_000, 0, nil))
		require.True(t, b.handshake(0, 10_000, 0, nil))
		require.True(t, host.LoseSessions())
		elsewhere := dialRaw(t, srv)
		require.True(t, elsewhere.handshake(0, 10_000, a.session, a.password))
		elsewhere.call(wire.OpCloseSession)
		time.Sleep(9 * time.Second)
		require.NotEmpty(t, srv.Sessions(), "the other session is still to be lost")
		time.Sleep(2 * time.Second)
		require.Empty(t, srv.Sessions())
		require.True(t, dial().handshake(0, 10_000, 0, nil), "the host is healed")
	})
}
