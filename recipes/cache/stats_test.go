package cache_test

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// A cache that is up to date has no lag. Its lag grows while the cache cannot read a
// node that has had an event, and ends when the cache has read the node.
func TestLagGrowsWhileAChangeIsNotRead(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		create(t, srv, "/r", "/r/a", "/other")
		c := open(t, client, "/r")
		synctest.Wait()
		require.Equal(t, cache.Stats{Nodes: 2, Known: 2}, c.Stats())

		require.NoError(t, srv.Set("/other", nil))
		require.NoError(t, client.Sync(within(t), "/other"))
		synctest.Wait()
		require.Equal(t, cache.Stats{Nodes: 2, Known: 2}, c.Stats(), "it has nothing to do with other nodes")

		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/r/a", Do: zktest.DelayReply(3 * time.Second)})
		require.NoError(t, srv.Set("/r/a", []byte("new")))
		time.Sleep(2 * time.Second)
		require.Equal(t, 2*time.Second, c.Stats().Lag)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, cache.Stats{Nodes: 2, Known: 2}, c.Stats())
	})
}

// An interruption is a lag. Its end is a resync, and a line in the log.
func TestResyncsAreCountedAndLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		create(t, srv, "/ns", "/ns/r")
		var log bytes.Buffer
		client := connect(t, srv, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		view, err := client.Namespace("/ns")
		require.NoError(t, err)
		c := open(t, view, "/r")
		require.Zero(t, c.Stats().Resyncs)
		for i := range 2 {
			srv.RefuseConnections(true)
			srv.CutAll()
			time.Sleep(time.Second)
			require.Equal(t, time.Second, c.Stats().Lag)
			srv.RefuseConnections(false)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			require.Equal(t, cache.Stats{Nodes: 1, Known: 1, Resyncs: int64(i + 1)}, c.Stats())
		}
		require.NoError(t, client.Close())
		require.Zero(t, c.Stats().Lag)
		require.Regexp(t, `msg="zookeeper cache is up to date again" curator.znode.path=/ns/r curator.cache.lag=\d`, log.String())
	})
}

// A failing server sets no watch, so that the cache is not filled.
//
// Promise: A cache that is not filled yet reports a lag.
func TestACacheThatIsNotFilledHasALag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		create(t, srv, "/r")
		trouble := srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
		c, err := cache.New(connect(t, srv), "/r")
		require.NoError(t, err)
		defer c.Close()
		time.Sleep(time.Hour)
		require.Equal(t, cache.Stats{Lag: time.Hour}, c.Stats())
		trouble.Remove()
		require.NoError(t, c.WaitSynced(within(t)))
		synctest.Wait()
		require.Equal(t, cache.Stats{Nodes: 1, Known: 1}, c.Stats())
	})
}

// A cache has something else to do while the session ends and the next one begins.
// It finds that there is a connection, and no watch.
//
// Promise: A cache without a watch reports a lag.
func TestACacheWithoutAWatchHasALag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		create(t, srv, "/r")
		client := connect(t, srv)
		c := open(t, client, "/r", cache.WithFilter(func(string) bool { time.Sleep(time.Minute); return false }))
		create(t, srv, "/r/slow")
		synctest.Wait()
		trouble := srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
		srv.Session(client.SessionID()).Expire()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.True(t, client.State().IsConnected())
		time.Sleep(time.Hour)
		require.GreaterOrEqual(t, c.Stats().Lag, time.Hour)
		trouble.Remove()
		time.Sleep(5 * time.Minute)
		require.Equal(t, cache.Stats{Nodes: 1, Known: 1, Resyncs: 1}, c.Stats())
	})
}

// The connection may end while the goroutines of a cache begin.
//
// Promise: An interruption right after the start of a cache is noticed.
func TestACutRightAfterTheStartIsALag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		create(t, srv, "/r")
		client := connect(t, srv)
		for range 300 {
			c := open(t, client, "/r")
			srv.RefuseConnections(true)
			srv.CutAll()
			time.Sleep(time.Second)
			require.Equal(t, time.Second, c.Stats().Lag)
			require.NoError(t, c.Close())
			srv.RefuseConnections(false)
			require.NoError(t, client.WaitConnected(t.Context()))
		}
	})
}
