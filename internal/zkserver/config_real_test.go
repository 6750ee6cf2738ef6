//go:build real

package zkserver

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProperties(t *testing.T) {
	alone := member{id: 1, client: 20001}
	secure := alone
	secure.secure = 20009
	peers := []member{
		{id: 1, client: 20001, quorum: 20002, election: 20003},
		{id: 2, client: 20004, quorum: 20005, election: 20006},
	}
	second := peers[1]
	second.peers = peers
	tests := []struct {
		name   string
		member member
		opts   []Option
		want   map[string]string // "" means absent
	}{
		{"standalone", alone, nil, map[string]string{
			"clientPort": "20001", "clientPortAddress": "127.0.0.1", "dataDir": "/srv/data", "tickTime": "100",
			"minSessionTimeout": "200", "maxSessionTimeout": "60000", "4lw.commands.whitelist": "*",
			"admin.enableServer": "false", "forceSync": "no", "maxClientCnxns": "0", "extendedTypesEnabled": "true",
			"initLimit": "", "server.1": "", "standaloneEnabled": "",
		}},
		{"ensemble", second, nil, map[string]string{
			"server.1": "127.0.0.1:20002:20003;127.0.0.1:20001", "server.2": "127.0.0.1:20005:20006;127.0.0.1:20004",
			"initLimit": "100", "syncLimit": "100", "standaloneEnabled": "false", "clientPort": "",
		}},
		{"tick scales the rest", second, []Option{WithTick(300 * time.Millisecond)}, map[string]string{
			"tickTime": "300", "minSessionTimeout": "600", "initLimit": "100", "syncLimit": "100",
		}},
		{"limits", second, []Option{WithInitLimit(10), WithSyncLimit(5)}, map[string]string{
			"initLimit": "10", "syncLimit": "5",
		}},
		{"session timeouts", alone, []Option{WithSessionTimeouts(time.Second, 2*time.Second)}, map[string]string{
			"minSessionTimeout": "1000", "maxSessionTimeout": "2000",
		}},
		{"TLS", secure, []Option{WithTLS(tls.VerifyClientCertIfGiven)}, map[string]string{
			"clientPort": "20001", "secureClientPort": "20009", "secureClientPortAddress": "127.0.0.1", "ssl.clientAuth": "want",
			"ssl.keyStore.location": "/srv/conf/server.pem", "ssl.trustStore.location": "/srv/conf/ca.pem",
		}},
		{"no TLS", alone, nil, map[string]string{"secureClientPort": "", "serverCnxnFactory": "", "ssl.clientAuth": ""}},
		{"properties win", alone, []Option{WithProperty("tickTime", "5"), WithTick(time.Second)}, map[string]string{
			"tickTime": "5",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := newConfig(tt.opts)
			require.NoError(t, err)
			got := properties(c, tt.member, layout{"/srv"})
			for key, want := range tt.want {
				require.Equal(t, want, got[key], key)
			}
		})
	}
}

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
