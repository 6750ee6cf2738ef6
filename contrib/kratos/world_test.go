package kratos_test

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kratos/kratos/v2/log"
	"github.com/go-kratos/kratos/v2/registry"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"

	zookeeper "github.com/gocurator/curator/contrib/kratos"
)

func TestMain(m *testing.M) {
	log.SetLogger(log.NewStdLogger(io.Discard))
	recipetest.Main(m)
}

const folder = "/microservices/orders"

type world struct{ *recipetest.World }

func inVirtualTime(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

func onFakeAndReal(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.OnFakeAndReal(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

// process is one with a registry.
type process struct {
	*zookeeper.Registry
	client  *framework.Client
	network *recipetest.Network
}

func (w *world) process(t *testing.T, opts ...zookeeper.Option) *process {
	t.Helper()
	client, network := w.Connect(t)
	return &process{zookeeper.New(client, opts...), client, network}
}

// replica is an instance of the service orders.
func replica(id string) *registry.ServiceInstance {
	return &registry.ServiceInstance{
		ID: id, Name: "orders", Version: "v1", Metadata: map[string]string{"zone": "b"},
		Endpoints: []string{"http://10.0.0.7:8000", "grpc://10.0.0.7:9000"},
	}
}

// put makes the node of an instance, as somebody else's registry does.
func (w *world) put(t *testing.T, i *registry.ServiceInstance) {
	t.Helper()
	data, err := json.Marshal(i)
	require.NoError(t, err)
	require.NoError(t, w.Fake.Create("/microservices/"+i.Name+"/"+i.ID, data))
}

// watch returns a watcher of the service orders, which is stopped at the end.
func (w *world) watch(t *testing.T, p *process) registry.Watcher {
	t.Helper()
	watcher, err := p.Watch(context.WithoutCancel(t.Context()), "orders")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, watcher.Stop()) })
	return watcher
}

// receive returns what a channel has, in real time.
func receive[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(time.Minute):
		require.FailNow(t, "nothing comes")
	}
	return v
}

// next returns the IDs of a watcher's next list.
func next(t *testing.T, w registry.Watcher) []string {
	t.Helper()
	list, err := w.Next()
	require.NoError(t, err)
	return ids(list)
}

func ids(list []*registry.ServiceInstance) []string {
	all := []string{}
	for _, i := range list {
		all = append(all, i.ID)
	}
	return all
}

// answer is what a Next has returned.
type answer struct {
	ids []string
	err error
}

// begin begins a Next, and returns what tells its answer. In a bubble, it waits
// until that has returned, or waits.
func begin(w registry.Watcher) <-chan answer {
	answers := make(chan answer, 1)
	go func() {
		list, err := w.Next()
		answers <- answer{ids(list), err}
	}()
	synctest.Wait()
	return answers
}
