package hertz_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	hertzclient "github.com/cloudwego/hertz/pkg/app/client"
	"github.com/cloudwego/hertz/pkg/app/client/loadbalance"
	"github.com/cloudwego/hertz/pkg/app/middlewares/client/sd"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/app/server/registry"
	"github.com/cloudwego/hertz/pkg/common/config"
	"github.com/cloudwego/hertz/pkg/common/utils"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/hertz"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// serveOrders is what README tells people to write.
func serveOrders() error {
	client, err := framework.New(os.Getenv("ZOOKEEPER"))
	if err != nil {
		return err
	}
	defer client.Close()
	h := server.Default(server.WithHostPorts(":8888"), server.WithRegistry(
		hertz.NewRegistry(client),
		&registry.Info{ServiceName: "orders", Addr: utils.NewNetAddr("tcp", ":8888"), Weight: 10},
	))
	h.Spin()
	return nil
}

// callOrders is the other half.
func callOrders(ctx context.Context, client *framework.Client) error {
	resolver := hertz.NewResolver(client)
	defer resolver.Close()
	cli, err := hertzclient.NewClient()
	if err != nil {
		return err
	}
	cli.Use(sd.Discovery(resolver))
	_, body, err := cli.Get(ctx, nil, "http://orders/ping", config.WithSD(true))
	if err == nil {
		fmt.Printf("%s", body)
	}
	return err
}

// soon is a client that knows of changes sooner.
func soon(cli *hertzclient.Client, resolver *hertz.Resolver) {
	cli.Use(sd.Discovery(resolver, sd.WithLoadBalanceOptions(
		loadbalance.NewWeightedBalancer(),
		loadbalance.Options{RefreshInterval: 100 * time.Millisecond},
	)))
}

// TestServerIsFoundAndCalled has a server of such a kind.
func TestCodeOfTheReadme(t *testing.T) {
	t.Parallel()
	_, _ = serveOrders, soon
	srv := zktest.Start(t)
	require.ErrorIs(t, callOrders(t.Context(), curatortest.Connect(t, srv)), discovery.ErrNoInstance)
}
