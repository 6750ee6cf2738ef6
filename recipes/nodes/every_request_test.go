package nodes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// kindsOfNodes are the ways to name a node.
var kindsOfNodes = map[string][]nodes.Option{
	"fixed":      nil,
	"protected":  {nodes.WithProtection()},
	"sequential": {nodes.WithMode(framework.EphemeralSequential)},
}

// Shutdown comes at any moment: before a request, after it, and when its answer
// is lost. When Shutdown returns, there is no node, and none comes later.
//
// Promise: No request that is applied late brings a node back after Shutdown.
func TestShutdownAtEveryRequestOfANode(t *testing.T) {
	for kind, opts := range kindsOfNodes {
		for name, at := range map[string]func(closing func(zktest.Request)) zktest.Action{
			"before": zktest.Call,
			"after":  zktest.CallAfter,
			"before, and the request is lost": func(closing func(zktest.Request)) zktest.Action {
				return zktest.All(zktest.Call(closing), zktest.DropRequest())
			},
			"before, and the answer is lost": func(closing func(zktest.Request)) zktest.Action {
				return zktest.All(zktest.Call(closing), zktest.DropReply())
			},
			"after, and the request was slow": func(closing func(zktest.Request)) zktest.Action {
				return zktest.All(zktest.Call(closing), zktest.DelayRequest(30*time.Second))
			},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				recipetest.EachRequest(t, 6, func(t *testing.T, i int) (hit bool) {
					inVirtualTime(t, func(t *testing.T, w *world) { hit = w.closeAt(t, opts, at, i) })
					return hit
				})
			})
		}
	}
}

func (w *world) closeAt(
	t *testing.T, opts []nodes.Option, at func(func(zktest.Request)) zktest.Action, i int,
) (hit bool) {
	ctx := w.Patience(t)
	require.NoError(t, w.Fake.Create("/d", nil))
	host := w.Fake.NewHost()
	c, err := framework.New(w.Addr, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(w.Session))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.WaitConnected(ctx))

	started := make(chan *nodes.PersistentNode, 1)
	fault := w.Fake.Inject(zktest.Rule{Optional: true, Path: "/d/*", After: i, Do: at(func(zktest.Request) {
		n := <-started
		started <- n
		go n.Shutdown(ctx)
		time.Sleep(time.Millisecond) // so that it has begun
	})})
	n, err := nodes.NewPersistentNode(c, "/d/a", []byte("one"), opts...)
	require.NoError(t, err)
	started <- n
	if _, err := n.WaitRegistered(ctx); err == nil {
		_ = n.Set(ctx, []byte("two"))
	}
	if r, there := n.Registration(); there {
		w.Fake.Delete(r.Path)
		settle()
	}
	host.LoseSessions()
	time.Sleep(3 * time.Minute)
	hit = fault.Hits() > 0
	require.NoError(t, n.Shutdown(ctx))
	require.ErrorIs(t, n.Err(), nodes.ErrClosed)
	for range 100 {
		require.Empty(t, w.Fake.Children("/d"))
		settle()
	}
	return hit
}
