//go:build real

package grpcresolver_test

import (
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/gocurator/curator/contrib/grpcresolver"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

// The same over real sockets, with gRPC's own dialer: an outage at the start
// names its cause, and passes. A backend that is killed costs no call.
func TestOverSockets(t *testing.T) {
	t.Parallel()
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	client, err := framework.New(srv.Addr(), framework.WithSessionTimeout(20*time.Second))
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	require.NoError(t, client.WaitConnected(t.Context()))
	kills := map[string]func(){}
	for _, id := range []string{"a", "b"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		kills[id] = serve(t, listener, newServer("orders"), func() (string, error) { return id, nil }, func() {})
		host, port, err := net.SplitHostPort(listener.Addr().String())
		require.NoError(t, err)
		number, err := strconv.Atoi(port)
		require.NoError(t, err)
		r, err := discovery.NewRegistration(client, base, discovery.CuratorCodec(), discovery.Instance{
			Service: "orders", ID: id, Address: host, TLSPort: number,
		})
		require.NoError(t, err)
		_, err = r.WaitRegistered(t.Context())
		require.NoError(t, err)
	}

	require.NoError(t, srv.Stop())
	late, err := framework.New(srv.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { late.Close() })
	conn, err := grpc.NewClient(orders+"?port=ssl", grpc.WithResolvers(grpcresolver.NewBuilder(late)),
		grpc.WithTransportCredentials(ca().trusted()), grpc.WithDefaultServiceConfig(balanced))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	_, err = ask(t.Context(), conn)
	require.ErrorContains(t, err, "ZooKeeper: not connected")
	require.ErrorContains(t, err, "connection refused")
	require.NoError(t, srv.Restart())
	_, err = ask(t.Context(), conn, grpc.WaitForReady(true))
	require.NoError(t, err)
	kills["a"]()
	require.Equal(t, map[string]bool{"b": true}, everyone(t, conn))
}
