//go:build real

package hertz_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/client"
	sd "github.com/cloudwego/hertz/pkg/app/client/discovery"
	"github.com/cloudwego/hertz/pkg/app/client/loadbalance"
	middleware "github.com/cloudwego/hertz/pkg/app/middlewares/client/sd"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/app/server/registry"
	"github.com/cloudwego/hertz/pkg/common/config"
	"github.com/cloudwego/hertz/pkg/network/standard"
	"github.com/cloudwego/hertz/pkg/protocol"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/hertz"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// notified is a registry that says when hertz has registered its server.
type notified struct {
	registry.Registry
	registered chan error
}

func (n notified) Register(info *registry.Info) error {
	err := n.Registry.Register(info)
	n.registered <- err
	return err
}

// counting is a load balancer that says how many instances hertz has heard of.
type counting struct {
	loadbalance.Loadbalancer
	counts chan int
}

func (c counting) Rebalance(result sd.Result) {
	c.Loadbalancer.Rebalance(result)
	select {
	case c.counts <- len(result.Instances):
	default:
	}
}

// waitFor waits until hertz has heard of n instances.
func (c counting) waitFor(t *testing.T, n int) {
	t.Helper()
	for {
		select {
		case count := <-c.counts:
			if count == n {
				return
			}
		case <-time.After(time.Minute):
			require.FailNow(t, "hertz does not ask any more")
		}
	}
}

// A server of hertz registers itself, is found and called by a client of hertz,
// over sockets, and is gone when it has shut down.
func TestServerIsFoundAndCalled(t *testing.T) {
	t.Parallel()
	srv := zktest.Start(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	reg := notified{hertz.NewRegistry(curatortest.Connect(t, srv)), make(chan error, 1)}
	h := server.New(server.WithListener(listener), server.WithTransport(standard.NewTransporter),
		server.WithRegistry(reg, &registry.Info{ServiceName: "product", Addr: listener.Addr(), Weight: 10}))
	h.GET("/ping", func(_ context.Context, c *app.RequestContext) { c.String(200, "pong") })
	stop := make(chan struct{})
	h.SetCustomSignalWaiter(func(failed chan error) error {
		select {
		case <-stop:
			return nil
		case err := <-failed:
			return err
		}
	})
	over := make(chan struct{})
	go func() {
		defer close(over)
		h.Spin()
	}()
	require.NoError(t, receive(t, reg.registered))

	resolver := hertz.NewResolver(curatortest.Connect(t, srv), discovery.WithRemovalGrace(0))
	defer resolver.Close()
	lb := counting{loadbalance.NewWeightedBalancer(), make(chan int)}
	cli, err := client.NewClient(client.WithDialer(standard.NewDialer()))
	require.NoError(t, err)
	cli.Use(middleware.Discovery(resolver, middleware.WithLoadBalanceOptions(lb, loadbalance.Options{
		RefreshInterval: 10 * time.Millisecond, ExpireInterval: time.Hour, // it is never forgotten
	})))
	ping := func() (int, string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		status, body, err := cli.Get(ctx, nil, "http://product/ping", config.WithSD(true))
		return status, string(body), err
	}
	status, body, err := ping()
	require.NoError(t, err)
	require.Equal(t, 200, status)
	require.Equal(t, "pong", body)
	cli.CloseIdleConnections()

	close(stop)
	receive(t, over)
	require.Empty(t, srv.Children("/product"))
	lb.waitFor(t, 0)
	_, _, err = ping()
	require.EqualError(t, err, "instance not found")
}

// hertz keeps a Resolver by its name. Two for two ensembles are two.
func TestResolversOfTwoEnsembles(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"10.0.0.7:1", "10.0.0.8:1"} {
		srv := zktest.Start(t)
		require.NoError(t, srv.Create("/product/"+address, []byte(says)))
		resolver := hertz.NewResolver(curatortest.Connect(t, srv))
		defer resolver.Close()
		var request protocol.Request
		request.SetRequestURI("http://product/ping")
		request.SetOptions(config.WithSD(true))
		called := ""
		call := middleware.Discovery(resolver)(func(_ context.Context, req *protocol.Request, _ *protocol.Response) error {
			called = string(req.Host())
			return nil
		})
		require.NoError(t, call(t.Context(), &request, nil))
		require.Equal(t, address, called)
	}
}
