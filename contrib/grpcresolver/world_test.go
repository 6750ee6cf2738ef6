package grpcresolver_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"

	"github.com/gocurator/curator/contrib/grpcresolver"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

const (
	base   = "/services"
	orders = "zookeeper:///services/orders"
)

func inVirtualTime(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

type world struct{ *recipetest.World }

// put makes the node of an instance of a service what the instance says.
func (w *world) put(t *testing.T, i discovery.Instance) {
	t.Helper()
	w.putAs(t, discovery.SpringCodec(), i)
}

func (w *world) putAs(t *testing.T, codec discovery.Codec, i discovery.Instance) {
	t.Helper()
	dir, err := codec.Dir(i.Service)
	require.NoError(t, err)
	name, data, err := codec.Encode(i)
	require.NoError(t, err)
	path := base + dir + "/" + name
	if _, there := w.Fake.Node(path); there {
		require.NoError(t, w.Fake.Set(path, data))
		return
	}
	require.NoError(t, w.Fake.Create(path, data))
}

func (w *world) remove(t *testing.T, id string) {
	t.Helper()
	require.NoError(t, w.Fake.Delete(base+"/orders/"+id))
}

// replica is an instance of the service orders.
func replica(id string, port int) discovery.Instance {
	return discovery.Instance{Service: "orders", ID: id, Address: "10.0.0.7", Port: port}
}

// builder returns a Builder that reads what put writes.
func (w *world) builder(opts ...grpcresolver.Option) *grpcresolver.Builder {
	opts = append([]grpcresolver.Option{grpcresolver.WithCodec("curator", discovery.SpringCodec())}, opts...)
	return grpcresolver.NewBuilder(w.Observer, opts...)
}

// channel stands for a channel, whose resolver is closed at the end of the
// test.
func channel(t *testing.T, b *grpcresolver.Builder, target string, opts ...resolver.BuildOptions) *conn {
	t.Helper()
	c := &conn{}
	r, err := b.Build(targetOf(t, target), c, append(opts, resolver.BuildOptions{})[0])
	require.NoError(t, err)
	c.close = sync.OnceFunc(r.Close)
	t.Cleanup(c.close)
	return c
}

// conn notes what a channel is told.
type conn struct {
	resolver.ClientConn
	close func()

	mu     sync.Mutex
	lines  []string
	states []resolver.State
}

func (c *conn) UpdateState(s resolver.State) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.states = append(c.states, s)
	c.lines = append(c.lines, strings.Join(append([]string{"state"}, slices.Sorted(slices.Values(addresses(s)))...), " "))
	if len(s.Endpoints) == 0 {
		return errors.New("bad resolver state")
	}
	return nil
}

func (c *conn) ReportError(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, err.Error())
}

// ParseServiceConfig takes an object for a service config.
func (c *conn) ParseServiceConfig(text string) *serviceconfig.ParseResult {
	if !strings.HasPrefix(text, "{") {
		return &serviceconfig.ParseResult{Err: errors.New("no object")}
	}
	return &serviceconfig.ParseResult{Config: parsed{text: text}}
}

type parsed struct {
	serviceconfig.Config
	text string
}

// news returns what the channel was told since the last call.
func (c *conn) news() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.lines
	c.lines = nil
	return lines
}

// last returns the state that the channel has.
func (c *conn) last(t *testing.T) resolver.State {
	t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	require.NotEmpty(t, c.states)
	return c.states[len(c.states)-1]
}

// addresses returns the addresses of a state, in its order.
func addresses(s resolver.State) (all []string) {
	for _, e := range s.Endpoints {
		all = append(all, e.Addresses[0].Addr)
	}
	return all
}

// passGrace lets the removal grace pass, and the patience of a resolver.
func passGrace() {
	time.Sleep(2 * time.Second)
	synctest.Wait()
}

func TestRegistrationOfTheReadmeLeavesNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		client, _ := w.Connect(t)
		require.NoError(t, registerOrders(client))
		require.Empty(t, w.Fake.Children("/services/orders"))
	})
}
