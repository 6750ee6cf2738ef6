package cache_test

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

func TestServerThatRefusesTheWatchEndsTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Do: zktest.Fail(zktest.ErrNoAuth)})
		c, err := cache.New(connect(t, srv), "/r")
		require.NoError(t, err)
		defer c.Close()
		require.ErrorIs(t, c.Synced(within(t)), zk.ErrNoAuth)
	})
}

// The client may move to a server that is older than the one before.
func TestCacheGoesOnWithStandardWatchesOnAnOlderServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		client := connect(t, srv)
		create(t, srv, "/r", "/r/a")
		c := open(t, client, "/r")
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Times: -1, Do: zktest.Fail(zktest.ErrUnimplemented)})
		srv.CutAll()
		create(t, srv, "/r/b")
		require.NoError(t, c.WaitFor(within(t), srv.Zxid()))
		create(t, srv, "/r/b/c")
		require.NoError(t, c.WaitFor(within(t), srv.Zxid()))
		require.Equal(t, []string{"/r", "/r/a", "/r/b", "/r/b/c"}, paths(c))
	})
}

// ClickHouse Keeper sends the path of a recursive watch in place of the path of
// the node.
func TestEventsWithTheWrongPathAreNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		create(t, srv, "/r", "/r/a")
		var log bytes.Buffer
		client := connect(t, srv, framework.WithDialer(keeper(srv, "/r")), framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		c := open(t, client, "/r")
		require.NoError(t, srv.Set("/r", []byte("mine"))) // this event is right
		require.NoError(t, c.WaitFor(within(t), srv.Zxid()))
		require.Len(t, srv.Watches(), 1)
		for range 3 {
			require.NoError(t, srv.Set("/r/a", []byte("new")))
			require.NoError(t, c.WaitFor(within(t), srv.Zxid()))
			n, _ := c.Get("/r/a")
			require.Equal(t, "new", string(n.Data))
			want, _ := srv.Node("/r/a")
			require.Equal(t, want.Stat.Mzxid, n.Stat.Mzxid)
		}
		require.Len(t, srv.Watches(), 4, "standard watches now: two for each node")
		require.NoError(t, client.Close())
		require.Contains(t, log.String(), "zookeeper cache sets standard watches")
	})
}
