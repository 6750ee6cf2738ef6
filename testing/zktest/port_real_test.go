//go:build real && linux

package zktest

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
)

// A process that has ended has no port. Clients tell that from a server that
// takes them and hangs up.
func TestPortIsClosedWhileTheServerIsDown(t *testing.T) {
	srv := Start(t, WithTCP("127.0.0.1:0"))
	addr := srv.Addr()
	requireRefused := func() {
		t.Helper()
		_, err := net.Dial("tcp", addr)
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	}
	for range 20 {
		c := dialTCP(t, srv)
		require.True(t, c.handshake(0, hour, 0, nil))
		require.NoError(t, srv.Stop())
		requireRefused()
		c.requireClosed()
		require.NoError(t, srv.Restart())
		require.Equal(t, addr, srv.Addr())

		srv.RefuseConnections(true)
		requireRefused()
		require.NoError(t, srv.Restart())
		requireRefused()
		srv.RefuseConnections(false)
	}

	require.NoError(t, srv.Stop())
	srv.BlackholeAll()
	dialTCP(t, srv)
	srv.Heal()
	requireRefused()
	require.NoError(t, srv.Close())
}

func TestPortsOfMembersThatAreDown(t *testing.T) {
	ens := StartEnsemble(t, 3, WithTCP("127.0.0.1:0"))
	follower := ens.Members()[0]
	require.NoError(t, follower.Stop())
	_, err := net.Dial("tcp", follower.Addr())
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.NoError(t, follower.Restart())
	require.NoError(t, zkinside.Of(ens).AwaitAgreement(t.Context()))
	for _, m := range ens.Members() {
		require.True(t, dialTCP(t, m.Server).handshake(0, hour, 0, nil))
	}
}
