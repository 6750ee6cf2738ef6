package nodes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

// world is the server that a scenario runs on, fake or real.
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

// start returns a persistent node that is shut down at the end of the test, if
// the test does not do that.
func start(t *testing.T, c *framework.Client, path, data string, opts ...nodes.Option) *nodes.PersistentNode {
	t.Helper()
	n, err := nodes.NewPersistentNode(c, path, []byte(data), opts...)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		n.Shutdown(ctx)
	})
	return n
}

// startFollowed is start with all changes of the node. In a bubble, call
// synctest.Wait before the returned function.
func startFollowed(
	t *testing.T, c *framework.Client, path, data string, opts ...nodes.Option,
) (n *nodes.PersistentNode, seen func() []nodes.Change) {
	t.Helper()
	n = start(t, c, path, data, opts...)
	return n, follow(t, n)
}

// ready waits for a node.
func (w *world) ready(t *testing.T, n *nodes.PersistentNode) nodes.Registration {
	t.Helper()
	r, err := n.WaitRegistered(w.Patience(t))
	require.NoError(t, err)
	return r
}

// follow collects the changes of a node. In a bubble, call synctest.Wait before
// the returned function.
func follow(t *testing.T, n *nodes.PersistentNode) (seen func() []nodes.Change) {
	t.Helper()
	changes := make(chan nodes.Change, 10_000)
	ctx, stop := context.WithCancel(context.Background())
	all := n.Changes(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c := range all {
			changes <- c
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	var list []nodes.Change
	return func() []nodes.Change {
		for {
			select {
			case c := <-changes:
				list = append(list, c)
			default:
				return list
			}
		}
	}
}

// states returns the states of changes.
func states(changes []nodes.Change) []nodes.State {
	var all []nodes.State
	for _, c := range changes {
		all = append(all, c.State)
	}
	return all
}

// dataOf returns the data of a node on the fake server, or "-" if there is
// none.
func (w *world) dataOf(path string) string {
	n, there := w.Fake.Node(path)
	if !there {
		return "-"
	}
	return string(n.Data)
}

// ownerOf returns the session that owns a node on the fake server.
func (w *world) ownerOf(path string) int64 {
	n, _ := w.Fake.Node(path)
	return n.Stat.EphemeralOwner
}

// settle lets a second of virtual time pass.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// data returns the data of a node, fake or real.
func (w *world) data(t *testing.T, path string) string {
	t.Helper()
	data, _, err := w.Observer.Get(w.Patience(t), path)
	require.NoError(t, err)
	return string(data)
}

// awaitNode waits until a node is there, or until there is none, fake or real.
func (w *world) awaitNode(t *testing.T, path string, there bool) {
	t.Helper()
	ctx := w.Patience(t)
	for {
		now, _, watch, err := w.Observer.ExistsW(ctx, path)
		require.NoError(t, err)
		if now == there {
			watch.Stop()
			return
		}
		_, err = watch.Wait(ctx)
		require.NoError(t, err)
	}
}

// requests returns the requests of a session, without pings and handshakes.
func (w *world) requests(session int64) (ops []zktest.Op) {
	for _, r := range w.Fake.Requests() {
		if r.Session == session && r.Op != zkinside.OpPing && r.Op != zktest.OpConnect {
			ops = append(ops, r.Op)
		}
	}
	return ops
}
