package cache_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// Something before a server may refuse the watch, for whatever reason, in the
// beginning or later. Standard watches need no request of their own.
func TestCacheUsesStandardWatchesIfOthersAreRefused(t *testing.T) {
	for _, code := range []zktest.Code{zktest.ErrNoAuth, -8, -114} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				create(t, srv, "/r", "/r/a")
				client := connect(t, srv)
				late := open(t, client, "/r")
				srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Times: -1, Do: zktest.Fail(code)})
				c := open(t, client, "/r")
				srv.Session(client.SessionID()).Expire()
				for _, c := range []*cache.Cache{late, c} {
					path := fmt.Sprint("/r/", srv.Zxid())
					create(t, srv, path)
					require.NoError(t, c.WaitFor(within(t), srv.Zxid()))
					require.Contains(t, paths(c), path)
				}
			})
		})
	}
}

// A server that knows no persistent watches may hang up when watches are set again
// after a reconnect.
func TestCacheGoesOnIfTheServerDoesNotSetWatchesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		create(t, srv, "/r", "/r/a")
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Times: -1, Do: zktest.Fail(zktest.ErrUnimplemented)})
		srv.Inject(zktest.Rule{Op: zktest.OpSetWatches, Times: -1, Do: zktest.DropRequest()})
		c, err := cache.New(connect(t, srv), "/r")
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.WaitSynced(within(t)))
		for _, path := range []string{"/r/b", "/r/b/c", "/r/d"} {
			srv.RefuseConnections(true)
			srv.CutAll()
			create(t, srv, path)
			srv.RefuseConnections(false)
			require.NoError(t, c.WaitFor(within(t), srv.Zxid()))
			require.Contains(t, paths(c), path)
		}
	})
}

// ClickHouse Keeper sends the path of a recursive watch in place of the path of
// the node.
func TestEventsWithTheWrongPathAreNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t, zktest.WithClickHouseKeeper())
		create(t, srv, "/r", "/r/a")
		var log bytes.Buffer
		client := connect(t, srv, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
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

// The root is there for one request and not for another, time and again. It is read
// after pauses, and no watch is left over.
func TestRootThatComesAndGoesIsReadAfterPauses(t *testing.T) {
	for name, op := range map[string]zktest.Op{"data": zktest.OpGetData, "children": zktest.OpGetChildren} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := servers["3.5"](t)
				create(t, srv, "/r", "/r/a")
				gone := srv.Inject(zktest.Rule{Op: op, Path: "/r", Times: 1000, Do: zktest.Fail(zktest.ErrNoNode)})
				time.AfterFunc(30*time.Second, gone.Remove)
				c := open(t, connect(t, srv), "/r")
				require.Greater(t, gone.Hits(), 5)
				require.Less(t, gone.Hits(), 30)
				require.Equal(t, []string{"/r", "/r/a"}, paths(c))
				require.Len(t, srv.Watches(), 4)
			})
		})
	}
}
