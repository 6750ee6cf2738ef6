package nodes_test

import (
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// kindsOfNodes are the ways to name a node.
var kindsOfNodes = map[string][]nodes.Option{
	"fixed":      nil,
	"protected":  {nodes.WithProtection()},
	"sequential": {nodes.WithMode(framework.EphemeralSequential)},
}

// A fault hits one request, whichever it is: of the creation of the node, a
// Set, the loss of the session, a deletion by somebody else, or Shutdown. The
// node is there with its last data, and it is the only one. After Shutdown
// there is none, and the node of another client, which has waited for the path,
// is left alone.
func TestFaultAtEveryRequestOfANode(t *testing.T) {
	for kind, opts := range kindsOfNodes {
		for _, fault := range recipetest.RequestFaults {
			if !thorough.Picked(4, kind, fault.Name) {
				continue
			}
			t.Run(kind+"/"+fault.Name, func(t *testing.T) {
				recipetest.EachRequest(t, 6, func(t *testing.T, i int) (hit bool) {
					inVirtualTime(t, func(t *testing.T, w *world) { hit = w.faultAt(t, opts, fault, i) })
					return hit
				})
			})
		}
	}
}

// faultAt lets the life of a node run into a fault at its i-th request. It
// reports whether there was such a request.
func (w *world) faultAt(t *testing.T, opts []nodes.Option, fault recipetest.RequestFault, i int) (hit bool) {
	ctx := w.Patience(t)
	require.NoError(t, w.Fake.Create("/d", nil))
	host := w.Fake.NewHost()
	c, err := framework.New(w.Addr, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(w.Session))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.WaitConnected(ctx))
	other, _ := w.Connect(t)

	injected := w.Fake.Inject(zktest.Rule{Path: "/d/*", After: i, Do: fault.On(w.Fake)})
	n := start(t, c, "/d/a", "one", opts...)
	w.onlyNode(t, c, w.ready(t, n).Path, "one")
	require.NoError(t, n.Set(ctx, []byte("two")))
	w.onlyNode(t, c, w.ready(t, n).Path, "two")
	w.Fake.Delete(w.ready(t, n).Path)
	host.LoseSessions()
	require.NoError(t, n.Set(ctx, []byte("three")))
	time.Sleep(3 * time.Minute)
	w.onlyNode(t, c, w.ready(t, n).Path, "three")

	rival := start(t, other, "/d/a", "rival", opts...)
	settle()
	require.NoError(t, n.Shutdown(ctx))
	require.Less(t, len(w.Fake.Children("/d")), 2, "our node is gone on return")
	held := w.ready(t, rival)
	time.Sleep(3 * time.Minute)
	later := w.ready(t, rival)
	if held.Session == later.Session {
		require.Equal(t, held.Czxid, later.Czxid, "nobody has deleted the other's node")
	}
	require.Equal(t, []string{path.Base(later.Path)}, w.Fake.Children("/d"))
	require.Equal(t, "rival", w.dataOf(later.Path))
	return injected.Hits() > 0
}

// onlyNode checks that the node is there, and that the client has no other one.
// Faults may hit it right then, so it has a while for that.
func (w *world) onlyNode(t *testing.T, c *framework.Client, path, data string) {
	t.Helper()
	for range 600 {
		settle()
		if w.dataOf(path) == data && w.ownerOf(path) == c.SessionID() && len(w.Fake.Children("/d")) == 1 {
			return
		}
	}
	t.Fatalf("%s: want %q of session %#x:\n%s", path, data, c.SessionID(), w.Fake.Dump())
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
	fault := w.Fake.Inject(zktest.Rule{Path: "/d/*", After: i, Do: at(func(zktest.Request) {
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
