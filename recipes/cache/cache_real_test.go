//go:build real

package cache_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/cache"
)

// stuck is when a test in real time gives up.
const stuck = 4 * time.Minute

func connectReal(t testing.TB, srv *zkserver.Server, opts ...framework.Option) *framework.Client {
	t.Helper()
	client, err := framework.New(srv.Addr(), append([]framework.Option{
		framework.WithSessionTimeout(time.Minute), framework.WithConnectionTimeout(stuck)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// One writer changes a tree, and notes its state after each transaction. A
// cache must only show such states, also after restarts of the server.
func TestRealServerCacheIsEqualToTheTree(t *testing.T) {
	srv := zkserver.Start(t)
	w := &world{T: t, rng: rand.New(rand.NewPCG(1, 1)), keep: func(string) bool { return true }}
	writer, client := connectReal(t, srv), connectReal(t, srv)
	ctx, cancel := context.WithTimeout(t.Context(), stuck)
	defer cancel()
	tree := &written{world: w, client: writer, nodes: map[string]cache.Node{}}
	tree.change(ctx, "/r")
	c, err := cache.New(client, "/r")
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.WaitSynced(ctx))

	reading, stop := context.WithCancel(ctx)
	var readers sync.WaitGroup
	readers.Go(func() { w.follow(reading, "follower", c, 0) })
	readers.Go(func() { w.look(reading, c) })
	for i := range thorough.Size(800, 500) {
		tree.changeSomething(ctx)
		if i%500 == 250 {
			require.NoError(t, srv.Restart())
		}
		if i%10 == 0 {
			require.NoError(t, c.WaitFor(ctx, writer.LastZxid()))
		}
	}
	last := writer.LastZxid()
	require.NoError(t, c.WaitFor(ctx, last))
	w.observe("last", c.Zxid(), slices.Collect(c.All()))
	stop()
	readers.Wait()
	w.check(w.past[len(w.past)-1].zxid)

	require.NoError(t, c.Close())
	require.NoError(t, client.Sync(ctx, "/"))
	n, err := srv.WatchCount(ctx)
	require.NoError(t, err)
	require.Zero(t, n, "watches left on the server")
}

// written is a tree as its only writer knows it.
type written struct {
	*world
	client *framework.Client
	nodes  map[string]cache.Node
}

func (w *written) changeSomething(ctx context.Context) {
	path := "/r"
	for range w.rng.IntN(4) {
		path += "/" + string('a'+rune(w.rng.IntN(3)))
		if _, there := w.nodes[path]; !there {
			break
		}
	}
	w.change(ctx, path)
}

// change creates, writes or deletes a node whose parent exists.
func (w *written) change(ctx context.Context, path string) {
	n, there := w.nodes[path]
	names, _, err := w.client.Children(ctx, path)
	data := fmt.Append(nil, w.rng.IntN(1000))
	switch {
	case !there:
		require.Error(w, err)
		made, err := w.client.Create(ctx, path, data)
		require.NoError(w, err)
		n = cache.Node{Path: path, Data: data}
		n.Stat.Czxid, n.Stat.Mzxid = made.Czxid, made.Czxid
		w.nodes[path] = n
		w.noteAt(made.Czxid)
	case len(names) == 0 && path != "/r" && w.rng.IntN(3) == 0:
		require.NoError(w, w.client.Delete(ctx, path, framework.AnyVersion))
		delete(w.nodes, path)
		w.noteAt(w.client.LastZxid())
	default:
		stat, err := w.client.Set(ctx, path, data, n.Stat.Version)
		require.NoError(w, err)
		n.Data, n.Stat = data, *stat
		w.nodes[path] = n
		w.noteAt(stat.Mzxid)
	}
}

func (w *written) noteAt(zxid int64) {
	w.past = append(w.past, version{zxid: zxid, tree: w.text(values(w.nodes))})
}
