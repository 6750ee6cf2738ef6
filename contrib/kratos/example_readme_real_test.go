//go:build real

package kratos_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/go-kratos/kratos/v2"
	"github.com/go-kratos/kratos/v2/transport"
	"github.com/go-kratos/kratos/v2/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"

	zookeeper "github.com/gocurator/curator/contrib/kratos"
)

// serveOrders is what README tells people to write.
func serveOrders(server transport.Server) error {
	client, err := framework.New(os.Getenv("ZOOKEEPER"))
	if err != nil {
		return err
	}
	defer client.Close()
	r := zookeeper.New(client)
	app := kratos.New(kratos.Name("orders"), kratos.Server(server), kratos.Registrar(r))
	return app.Run()
}

// callOrders is the other half.
func callOrders(ctx context.Context, r *zookeeper.Registry) error {
	conn, err := http.NewClient(ctx, http.WithEndpoint("discovery:///orders"), http.WithDiscovery(r))
	if err != nil {
		return err
	}
	defer conn.Close()
	return nil
}

// endedServer ends at once, and so does its app.
type endedServer struct{ transport.Server }

func (endedServer) Start(context.Context) error { return context.DeadlineExceeded }
func (endedServer) Stop(context.Context) error  { return nil }

func TestCodeOfTheReadme(t *testing.T) {
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	t.Setenv("ZOOKEEPER", srv.Addr())
	require.ErrorIs(t, serveOrders(endedServer{}), context.DeadlineExceeded)

	client := curatortest.Connect(t, srv)
	require.NoError(t, callOrders(t.Context(), zookeeper.New(client)))
	r := zookeeper.New(client, zookeeper.WithRegistrationOptions(discovery.WithConflictPolicy(nodes.Replace)))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, r.Register(ctx, replica("a")))
}
