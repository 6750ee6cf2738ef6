//go:build real

package zkserver

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server that is down listens on no port. The server's port must still not be
// given to another server, even by another program.
func TestReservedPortsAreKept(t *testing.T) {
	ports, err := reservePorts(1)
	require.NoError(t, err)
	require.True(t, listenable(ports[0]), "it is free for the server")
	require.False(t, reserve(ports[0]))
	stranger, err := net.ListenPacket("udp", local(ports[0]))
	require.Error(t, err, "%v: as other programs ask", stranger)
	releasePorts(ports)
	require.True(t, reserve(ports[0]))
	releasePorts(ports)
}
