//go:build real

package zktest_test

import (
	"io"
	"net"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

func TestEverydayOperationsOverTCP(t *testing.T) {
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	script(t, connectVia(t, srv, net.DialTimeout, 10*time.Second))
	require.Empty(t, srv.Tree())
}

// Over TCP on other systems than Linux the port stays open, and the end of a
// connection takes the place of a refusal.
func TestRefusalInMemoryAndOverTCP(t *testing.T) {
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	for name, set := range map[string]func(refuse bool){
		"RefuseConnections": srv.RefuseConnections,
		"Stop": func(refuse bool) {
			if refuse {
				srv.Stop()
			} else {
				srv.Restart()
			}
		},
	} {
		set(true)
		_, err := srv.Dialer()(t.Context(), "tcp", srv.Addr())
		require.ErrorIs(t, err, syscall.ECONNREFUSED, name)
		nc, err := net.Dial("tcp", srv.Addr())
		if runtime.GOOS == "linux" {
			require.ErrorIs(t, err, syscall.ECONNREFUSED, name)
		} else {
			require.NoError(t, err, name)
			_, err = nc.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF, name)
			nc.Close()
		}

		set(false)
		nc, err = srv.Dialer()(t.Context(), "tcp", srv.Addr())
		require.NoError(t, err, name)
		nc.Close()
	}
}

// Without WithTCP, the first Addr opens a port, and ConnectString opens one for
// each member.
func TestAddressesCanBeDialedOutsideABubble(t *testing.T) {
	srv := zktest.Start(t)
	require.Equal(t, srv.Addr(), srv.Addr())
	script(t, connectVia(t, srv, net.DialTimeout, 10*time.Second))
	require.NoError(t, srv.Stop())
	_, err := net.Dial("tcp", srv.Addr())
	if runtime.GOOS == "linux" {
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	}

	stopped := zktest.Start(t)
	require.NoError(t, stopped.Stop())
	_, err = net.Dial("tcp", stopped.Addr())
	if runtime.GOOS == "linux" {
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	}

	ens := zktest.StartEnsemble(t, 3)
	for _, addr := range strings.Split(ens.ConnectString(), ",") {
		conn, err := net.Dial("tcp", addr)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		conn, err = ens.Dialer()(t.Context(), "tcp", addr)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}

	require.NoError(t, srv.Close())
	require.NotEmpty(t, srv.Addr(), "the address stays when the server is closed")
}
