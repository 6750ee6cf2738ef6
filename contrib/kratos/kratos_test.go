package kratos_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kratos/kratos/v2"
	"github.com/go-kratos/kratos/v2/registry"
	resolvers "github.com/go-kratos/kratos/v2/transport/grpc/resolver/discovery"
	transport "github.com/go-kratos/kratos/v2/transport/http"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/resolver"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"

	zookeeper "github.com/gocurator/curator/contrib/kratos"
)

// greeter starts an app of kratos that answers with its ID, on a socket. The
// function stops it.
func greeter(t *testing.T, r *zookeeper.Registry, id string) (stop func()) {
	t.Helper()
	server := transport.NewServer(transport.Address("127.0.0.1:0"))
	server.HandleFunc("/hello", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"from":"` + id + `"}`))
	})
	app := kratos.New(kratos.ID(id), kratos.Name("orders"), kratos.Version("v1"), kratos.Server(server), kratos.Registrar(r))
	done := make(chan error, 1)
	go func() { done <- app.Run() }()
	stop = sync.OnceFunc(func() {
		require.NoError(t, app.Stop())
		require.NoError(t, receive(t, done))
	})
	t.Cleanup(stop)
	return stop
}

// An app that cannot register says why, and leaves nothing.
func TestAppThatCannotRegister(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a"))
		app := kratos.New(kratos.ID("a"), kratos.Name("orders"), kratos.Registrar(w.process(t).Registry))
		require.ErrorContains(t, app.Run(), `an instance at "10.0.0.7", port 8000, has the ID`)
		node, _ := w.Fake.Node(folder + "/a")
		require.Zero(t, node.Stat.EphemeralOwner)
	})
}

// channel notes what kratos's resolver tells a gRPC channel.
type channel struct {
	resolver.ClientConn
	mu     sync.Mutex
	states [][]string
}

func (c *channel) UpdateState(s resolver.State) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for _, a := range s.Addresses {
		all = append(all, a.ServerName+"="+a.Addr)
	}
	slices.Sort(all)
	c.states = append(c.states, all)
	return nil
}

// news returns the states since the last call.
func (c *channel) news() [][]string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	states := c.states
	c.states = nil
	return states
}

// kratos's own resolver for gRPC channels follows a service, and ends.
func TestResolverOfKratos(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t)
		builder := resolvers.NewBuilder(p, resolvers.WithInsecure(true))
		c := &channel{}
		r, err := builder.Build(resolver.Target{URL: url.URL{Scheme: "discovery", Path: "/orders"}}, c, resolver.BuildOptions{})
		require.NoError(t, err)
		require.Empty(t, c.news())
		w.put(t, replica("a"))
		require.Equal(t, [][]string{{"orders=10.0.0.7:9000"}}, c.news())
		other := replica("b")
		other.Endpoints = []string{"grpc://10.0.0.8:9000"}
		w.put(t, other)
		require.Equal(t, [][]string{{"orders=10.0.0.7:9000", "orders=10.0.0.8:9000"}}, c.news())
		p.network.Cut()
		time.Sleep(time.Hour)
		require.Empty(t, c.news())
		require.NoError(t, w.Fake.Delete(folder+"/a"))
		require.Equal(t, [][]string{{"orders=10.0.0.8:9000"}}, c.news())
		r.Close()
		synctest.Wait()
		w.NoWatches(t)
	})
}

// A resolver whose client is closed ends, instead of logging an error each second.
func TestResolverOfKratosEndsWithTheClient(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t)
		var c channel
		calls := &counting{Registry: p.Registry}
		r, err := resolvers.NewBuilder(calls).Build(
			resolver.Target{URL: url.URL{Scheme: "discovery", Path: "/orders"}}, &c, resolver.BuildOptions{})
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, p.client.Close())
		time.Sleep(time.Hour)
		require.EqualValues(t, 2, calls.n.Load(), "one for the list, and one that ends")
		r.Close()
	})
}

// counting counts calls of Next.
type counting struct {
	*zookeeper.Registry
	n atomic.Int32
}

func (c *counting) Watch(ctx context.Context, name string) (registry.Watcher, error) {
	watcher, err := c.Registry.Watch(ctx, name)
	return countingWatcher{watcher, &c.n}, err
}

type countingWatcher struct {
	registry.Watcher
	n *atomic.Int32
}

func (c countingWatcher) Next() ([]*registry.ServiceInstance, error) {
	c.n.Add(1)
	return c.Watcher.Next()
}

// idle is a server of kratos's that serves nobody.
type idle struct{ stopped chan struct{} }

func (s idle) Start(context.Context) error { <-s.stopped; return nil }
func (s idle) Stop(context.Context) error  { close(s.stopped); return nil }

// hurried is a registry with little time to deregister.
type hurried struct{ *zookeeper.Registry }

func (h hurried) Deregister(ctx context.Context, service *registry.ServiceInstance) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	return h.Registry.Deregister(ctx, service)
}

// An app that is stopped in an outage of ZooKeeper stops.
func TestAppStopsInAnOutage(t *testing.T) {
	t.Parallel()
	srv := zktest.Start(t)
	host := srv.NewHost()
	client := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
	started := make(chan struct{}, 1)
	app := kratos.New(kratos.ID("a"), kratos.Name("orders"), kratos.Server(idle{make(chan struct{})}),
		kratos.Registrar(hurried{zookeeper.New(client)}), kratos.AfterStart(func(context.Context) error {
			started <- struct{}{}
			return nil
		}))
	over := make(chan error, 1)
	go func() { over <- app.Run() }()
	receive(t, started)
	host.Disconnect()
	require.NoError(t, app.Stop())
	require.NoError(t, receive(t, over))
}
