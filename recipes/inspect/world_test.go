package inspect_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locks"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

type world struct{ *recipetest.World }

// onFakeAndReal runs a scenario on zktest in virtual time, and on a real
// server.
func onFakeAndReal(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.OnFakeAndReal(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

func inVirtualTime(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

// service returns a client that its nodes name as this service.
func (w *world) service(t *testing.T, name string) *framework.Client {
	t.Helper()
	c, _ := w.Connect(t, framework.WithServiceName(name))
	return c
}

// walk returns all recipes, or fails the test.
func (w *world) walk(t *testing.T, root string, opts ...inspect.Option) (all []inspect.Recipe) {
	t.Helper()
	for r, err := range inspect.Walk(w.Patience(t), w.Observer, root, opts...) {
		require.NoError(t, err)
		all = append(all, r)
	}
	return all
}

// waits returns the waits of a graph.
func (w *world) waits(t *testing.T, root string, opts ...inspect.Option) []inspect.Wait {
	t.Helper()
	graph, err := inspect.WaitGraph(w.Patience(t), w.Observer, []string{root}, opts...)
	require.NoError(t, err)
	return graph.Waits
}

// one returns the only recipe of a path.
func (w *world) one(t *testing.T, path string, opts ...inspect.Option) inspect.Recipe {
	t.Helper()
	all := w.walk(t, path, opts...)
	require.Len(t, all, 1, "%+v", all)
	require.Equal(t, path, all[0].Path)
	return all[0]
}

// create makes a node as another client would, and returns its path.
func create(t *testing.T, c *framework.Client, path, data string, mode framework.Mode) string {
	t.Helper()
	node, err := c.Create(t.Context(), path, []byte(data), framework.WithMode(mode), framework.WithParents())
	require.NoError(t, err)
	return node.Path
}

// acquireBehind begins an acquire, and returns when its node is in the queue.
func (w *world) acquireBehind(t *testing.T, l locks.Locker, queue string, length int) *locktest.Pending {
	t.Helper()
	p := locktest.AcquireLater(w.Patience(t), l)
	w.WaitNodes(t, queue, length)
	return p
}

func ids(all []inspect.Participant) (names []string) {
	for _, p := range all {
		names = append(names, p.ID)
	}
	return names
}

func services(all []inspect.Participant) (names []string) {
	for _, p := range all {
		names = append(names, p.Service)
	}
	return names
}

func nodesIn(all []inspect.Participant) (paths []string) {
	for _, p := range all {
		paths = append(paths, p.Path)
	}
	return paths
}

func kindsOf(all []inspect.Recipe) map[string]inspect.Kind {
	kinds := map[string]inspect.Kind{}
	for _, r := range all {
		kinds[r.Path] = r.Kind
	}
	return kinds
}
