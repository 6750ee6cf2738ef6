package cache_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
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

// A refusal or two may be one server's, or a moment's.
func TestCacheAsksAgainAfterARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		create(t, srv, "/r", "/r/a")
		client := connect(t, srv)
		for range 3 {
			srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Times: 2, Do: zktest.Fail(zktest.ErrNoAuth)})
			c := open(t, client, "/r")
			srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Times: 2, Do: zktest.Fail(zktest.ErrNoAuth)})
			srv.Session(client.SessionID()).Expire()
			create(t, srv, fmt.Sprint("/r/", srv.Zxid()))
			require.NoError(t, c.WaitFor(within(t), srv.Zxid()))
			require.Len(t, srv.Watches(), 1)
			require.NoError(t, c.Close())
		}
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

// A server in trouble says so to the client or to the cache, which try again.
// Those who wait for the cache must know.
func TestWaitSyncedNamesWhatTheCacheHasOutlasted(t *testing.T) {
	for _, trouble := range []struct {
		op   zktest.Op
		code zktest.Code
	}{
		{zktest.OpAddWatch, zktest.ErrThrottled},
		{zktest.OpGetData, zktest.ErrThrottled},
		{zktest.OpAddWatch, zktest.ErrSystem}, // which the client does not try again
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := zktest.Start(t)
			create(t, srv, "/r", "/r/a")
			rule := srv.Inject(zktest.Rule{Op: trouble.op, Times: -1, Do: zktest.Fail(trouble.code)})
			c, err := cache.New(connect(t, srv), "/r")
			require.NoError(t, err)
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			code, _ := framework.ServerCode(c.WaitSynced(ctx))
			require.EqualValues(t, trouble.code, code, "%v", trouble)
			rule.Remove()
			require.NoError(t, c.WaitSynced(within(t)))
			ctx, cancel = context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, isAnswer := framework.ServerCode(c.WaitFor(ctx, srv.Zxid()+1))
			require.False(t, isAnswer, "%v: that is over", trouble)
		})
	}
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

// The events are wrong as well if the root changes in the same step: there are
// more of them than changes of the root, or they are not what has happened to
// it.
func TestEventsWithTheWrongPathAreNoticedBesideAChangeOfTheRoot(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, srv *zktest.Server){
		"changed": func(t *testing.T, srv *zktest.Server) { require.NoError(t, srv.Set("/r/a", []byte("new"))) },
		"created": func(t *testing.T, srv *zktest.Server) { require.NoError(t, srv.Create("/r/b", []byte("new"))) },
		"deleted": func(t *testing.T, srv *zktest.Server) { require.NoError(t, srv.Delete("/r/a")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t, zktest.WithClickHouseKeeper())
				create(t, srv, "/r", "/r/a")
				c := open(t, connect(t, srv), "/r")
				require.NoError(t, srv.Set("/r", []byte("first")))
				change(t, srv)
				require.NoError(t, srv.Set("/r", []byte("second")))
				require.NoError(t, c.WaitFor(within(t), srv.Zxid()))
				requireTree(t, srv, c, "/r", "/r/a", "/r/b")
			})
		})
	}
}

// True events of the root are not taken for wrong ones, however many there are
// and whatever else happens. Wrong ones leave nothing stale behind, as long as
// the root stays the same node.
func TestEventsOfTheRootUnderRandomChanges(t *testing.T) {
	for seed := range uint64(thorough.Size(20, 4)) {
		for _, wrong := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var keeper []zktest.Option
				if wrong {
					keeper = append(keeper, zktest.WithClickHouseKeeper())
				}
				srv := zktest.Start(t, keeper...)
				var log bytes.Buffer
				client := connect(t, srv, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				create(t, srv, "/r")
				c := open(t, client, "/r")
				changeAtRandom(srv, rand.New(rand.NewPCG(seed, 2)), !wrong)
				require.NoError(t, c.WaitFor(within(t), srv.Zxid()))
				requireTree(t, srv, c, "/r", "/r/a")
				require.NoError(t, client.Close())
				if !wrong {
					require.NotContains(t, log.String(), "standard watches")
				}
			})
		}
	}
}

// changeAtRandom changes /r and a node below it. Some changes cannot be made.
func changeAtRandom(srv *zktest.Server, dice *rand.Rand, rootGoes bool) {
	for range 500 {
		switch dice.IntN(12) {
		case 0:
			srv.Create("/r", nil)
		case 1:
			if rootGoes {
				srv.Delete("/r")
			}
		case 2:
			srv.Create("/r/a", nil)
		case 3:
			srv.Delete("/r/a")
		case 4:
			srv.Set("/r/a", nil)
		case 5:
			time.Sleep(time.Duration(dice.IntN(3)) * time.Millisecond)
		case 6:
			synctest.Wait()
		case 7:
			if dice.IntN(20) == 0 {
				srv.CutAll()
				time.Sleep(time.Duration(dice.IntN(5)) * time.Second)
			}
		default:
			srv.Set("/r", nil)
		}
	}
}

// requireTree requires that a cache has these nodes as the server has them.
func requireTree(t *testing.T, srv *zktest.Server, c *cache.Cache, paths ...string) {
	t.Helper()
	for _, path := range paths {
		want, there := srv.Node(path)
		got, cached := c.Get(path)
		require.Equal(t, there, cached, path)
		if there {
			require.Equal(t, string(want.Data), string(got.Data), path)
			require.Equal(t, want.Stat.Mzxid, got.Stat.Mzxid, path)
		}
	}
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
