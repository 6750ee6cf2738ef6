//go:build real

package zkserver

import (
	"crypto/tls"
	"net"
	"os"
	"strings"
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
		{"others", alone, []Option{WithTTLNodes(false)}, map[string]string{
			"extendedTypesEnabled": "false",
		}},
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

func TestFormat(t *testing.T) {
	require.Equal(t, "a=1\nb=2\n", format(map[string]string{"b": "2", "a": "1"}))
}

func TestJVMArgs(t *testing.T) {
	c, err := newConfig([]Option{
		WithJVMFlags("-Xmx1g"), WithJVMFlags("-Da=b"), WithContainerCheckInterval(2 * time.Second),
	})
	require.NoError(t, err)
	files := layout{"/srv"}
	args := jvmArgs(c, []string{"logger.jar", "zk.jar"}, files)
	class := "logger.jar" + string(os.PathListSeparator) + "zk.jar"
	want := "-Xmx1g -Da=b -Dznode.container.checkIntervalMs=2000 -cp " + class +
		" org.apache.zookeeper.server.quorum.QuorumPeerMain " + files.cfg()
	require.True(t, strings.HasSuffix(strings.Join(args, " "), want), args)
}

func TestOptionsAreChecked(t *testing.T) {
	tests := map[string]Option{
		"tick":           WithTick(0),
		"session":        WithSessionTimeouts(2*time.Second, time.Second),
		"start timeout":  WithStartTimeout(-1),
		"authentication": WithTLS(tls.RequestClientCert),
	}
	for text, opt := range tests {
		_, err := Run(opt)
		require.ErrorContains(t, err, text)
	}
}

func TestOptionsThatCannotBeUsedAreErrors(t *testing.T) {
	tests := []struct {
		opt  Option
		text string // of the error
	}{
		{nil, "option 1 is nil"},
		{WithTick(1000 * time.Hour), "tick of 1000h"},
		{WithSessionTimeouts(0, time.Second), "session timeouts from 0s to 1s"},
		{WithSessionTimeouts(time.Second, 1000*time.Hour), "session timeouts from 1s to 1000h"},
		{WithInitLimit(0), "init limit of 0 ticks"},
		{WithInitLimit(21_474_837), "init limit of 21474837 ticks: must be from 1 to 21474836 at a tick of 100ms"},
		{WithSyncLimit(-1), "sync limit of -1 ticks"},
		{WithContainerCheckInterval(0), "container check interval of 0s"},
		{WithProperty("", "x"), `property ""="x"`},
		{WithProperty("tickTime=5", ""), `property "tickTime=5"="": zoo.cfg cannot have that key`},
		{WithProperty("a:b", "x"), `property "a:b"="x"`},
		{WithProperty("a b", "x"), `property "a b"="x"`},
		{WithProperty("a\t", "x"), `property "a\t"="x"`},
		{WithProperty("a\nb", "x"), `property "a\nb"="x"`},
		{WithProperty(`a\u003d`, "x"), `property "a\\u003d"="x"`},
		{WithProperty("#a", "x"), `property "#a"="x"`},
		{WithProperty("!a", "x"), `property "!a"="x"`},
		{WithProperty("a", "1\nb=2"), `property "a"="1\nb=2"`},
		{WithJVMFlags("-Da", ""), `JVM flags ["-Da" ""]`},
		{WithDistribution(nil), "distribution <nil>"},
		{WithDistribution(&Distribution{Java: "java"}), "must have Java and a class path"},
	}
	for _, tt := range tests {
		_, err := Run(tt.opt)
		require.ErrorContains(t, err, tt.text)
		_, err = RunEnsemble(3, tt.opt)
		require.ErrorContains(t, err, tt.text)
		for _, start := range []func(tb TB){
			func(tb TB) { Start(tb, tt.opt) },
			func(tb TB) { StartEnsemble(tb, 3, tt.opt) },
			func(tb TB) { Shared(tb, tt.opt) },
			func(tb TB) { BorrowEnsemble(tb, 3, tt.opt) },
		} {
			require.Contains(t, runFake(start).failed, tt.text)
		}
	}
}

func TestErrorNamesTheNilOption(t *testing.T) {
	_, err := Run(WithTick(time.Second), nil, nil)
	require.EqualError(t, err, "zkserver: option 2 is nil")
}

func TestOptionsCanBeReused(t *testing.T) {
	shared := []Option{WithProperty("a", "1"), WithJVMFlags("-Da")}
	first, err := newConfig(append(shared[:2:2], WithProperty("b", "2"), WithJVMFlags("-Db")))
	require.NoError(t, err)
	second, err := newConfig(shared)
	require.NoError(t, err)
	require.Len(t, first.properties, 2)
	require.Len(t, second.properties, 1)
	require.Equal(t, []string{"-Da"}, second.jvmFlags)
}

func TestPortsAreReservedOnce(t *testing.T) {
	seen := map[int]bool{}
	ports, err := reservePorts(50)
	require.NoError(t, err)
	defer releasePorts(ports)
	for _, port := range ports {
		require.False(t, seen[port])
		require.False(t, reserve(port))
		seen[port] = true
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
