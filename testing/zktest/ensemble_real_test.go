//go:build real

package zktest_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

func TestEnsembleOverTCP(t *testing.T) {
	ens := zktest.StartEnsemble(t, 3, zktest.WithTCP("127.0.0.1:0"))
	c := &client{change: make(chan struct{})}
	conn, events, err := zk.Connect(strings.Split(ens.ConnectString(), ","), time.Minute,
		zk.WithDialer(net.DialTimeout), zk.WithLogger(silent{}), zk.WithEventCallback(c.record))
	require.NoError(t, err)
	c.Conn = conn
	t.Cleanup(func() {
		conn.Close()
		for range events {
		}
	})
	c.await(t, zk.StateHasSession)
	_, err = c.Create("/a", nil, zk.FlagEphemeral, open)
	require.NoError(t, err)
	for _, m := range ens.Members() {
		require.True(t, has(m, "/a"))
	}
}
