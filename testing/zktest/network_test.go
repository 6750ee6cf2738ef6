package zktest

import (
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A client that forgets the dialer must not reach a server on the developer's
// machine: ports below 1024 are not given to programs, and ZooKeeper's
// are far above.
func TestAddressesLeadNowhereElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		addresses := append(strings.Split(StartEnsemble(t, 5).ConnectString(), ","), Start(t).Addr())
		seen := make(map[int]bool)
		for _, address := range addresses {
			tcp, err := net.ResolveTCPAddr("tcp", address)
			require.NoError(t, err)
			require.True(t, tcp.IP.IsLoopback(), address)
			require.Less(t, tcp.Port, 7, "%s: from 7 on there may be services", address)
			require.Positive(t, tcp.Port, address)
			seen[tcp.Port] = true
		}
		require.Len(t, seen, len(addresses))
	})
}
