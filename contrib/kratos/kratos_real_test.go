//go:build real

package kratos_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	transport "github.com/go-kratos/kratos/v2/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"

	zookeeper "github.com/gocurator/curator/contrib/kratos"
)

// Apps of kratos register, are found, are called, stop, and are gone.
func TestAppsOverHTTP(t *testing.T) {
	t.Parallel()
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	servers, clients := zookeeper.New(curatortest.Connect(t, srv)), zookeeper.New(curatortest.Connect(t, srv))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	watcher, err := clients.Watch(ctx, "orders")
	require.NoError(t, err)
	defer watcher.Stop()
	require.Empty(t, next(t, watcher))
	stop := greeter(t, servers, "a")
	require.Equal(t, []string{"a"}, next(t, watcher))

	sockets := &http.Transport{}
	defer sockets.CloseIdleConnections()
	client, err := transport.NewClient(ctx, transport.WithEndpoint("discovery:///orders"),
		transport.WithDiscovery(clients), transport.WithBlock(), transport.WithTransport(sockets))
	require.NoError(t, err)
	defer client.Close()
	var reply struct{ From string }
	require.NoError(t, client.Invoke(ctx, http.MethodGet, "/hello", nil, &reply))
	require.Equal(t, "a", reply.From)
	require.Equal(t, []string{"a"}, srv.Children(folder))

	stop()
	require.Empty(t, next(t, watcher))
	require.Empty(t, srv.Children(folder))
}
