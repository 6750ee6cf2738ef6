package cache_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// servers are the kinds of servers that onEach runs a test on.
var servers = map[string]func(t *testing.T) *zktest.Server{
	"3.9": func(t *testing.T) *zktest.Server { return zktest.Start(t) },
	"3.8": func(t *testing.T) *zktest.Server {
		return zktest.Start(t, zkinside.With(zkinside.Settings{Version38: true}).(zktest.Option))
	},
}

func onEach(t *testing.T, test func(t *testing.T, srv *zktest.Server, client *framework.Client)) {
	t.Helper()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t)
				test(t, srv, connect(t, srv))
			})
		})
	}
}

func connect(t *testing.T, srv *zktest.Server, opts ...framework.Option) *framework.Client {
	t.Helper()
	client, err := framework.New(srv.Addr(), append([]framework.Option{framework.WithDialer(srv.Dialer()),
		framework.WithSessionTimeout(6 * time.Second)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func create(t *testing.T, srv *zktest.Server, paths ...string) {
	t.Helper()
	for _, path := range paths {
		require.NoError(t, srv.Create(path, []byte("of "+path)))
	}
}

func open(t *testing.T, client *framework.Client, root string, opts ...cache.Option) *cache.Cache {
	t.Helper()
	c, err := cache.New(client, root, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.WaitSynced(within(t)))
	return c
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func paths(c *cache.Cache) (list []string) {
	for n := range c.All() {
		list = append(list, n.Path)
	}
	return list
}

func TestCacheHasTheTree(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		create(t, srv, "/r", "/r/a", "/r/a/b", "/r/c", "/rest", "/other")
		c := open(t, client, "/r")
		require.Equal(t, []string{"/r", "/r/a", "/r/a/b", "/r/c"}, paths(c))
		require.LessOrEqual(t, c.Zxid(), srv.Stats().Zxid)
		n, ok := c.Get("/r/a/b")
		require.True(t, ok)
		want, _ := srv.Node("/r/a/b")
		require.Equal(t, "of /r/a/b", string(n.Data))
		require.Equal(t, want.Stat.Czxid, n.Stat.Czxid)
		_, ok = c.Get("/rest")
		require.False(t, ok)
		var names []string
		for child := range c.Children("/r") {
			names = append(names, child.Path)
		}
		require.Equal(t, []string{"/r/a", "/r/c"}, names)
		require.Empty(t, slices.Collect(c.Children("/r/c")))

		create(t, srv, "/r/a/new")
		require.NoError(t, srv.Set("/r/c", []byte("set")))
		require.NoError(t, srv.Delete("/r/a/b"))
		require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
		require.Equal(t, []string{"/r", "/r/a", "/r/a/new", "/r/c"}, paths(c))
		n, _ = c.Get("/r/c")
		require.Equal(t, "set", string(n.Data))
	})
}

func TestCacheOfTheRootAndOfAMissingNode(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		all, missing := open(t, client, "/"), open(t, client, "/r/a")
		require.Empty(t, paths(missing))
		create(t, srv, "/r", "/r/a", "/r/a/b")
		require.NoError(t, missing.WaitFor(within(t), srv.Stats().Zxid))
		require.NoError(t, all.WaitFor(within(t), srv.Stats().Zxid))
		require.Equal(t, []string{"/r/a", "/r/a/b"}, paths(missing))
		require.Subset(t, paths(all), []string{"/", "/r", "/r/a", "/r/a/b"})
		require.NoError(t, srv.Delete("/r"))
		require.NoError(t, missing.WaitFor(within(t), srv.Stats().Zxid))
		require.Empty(t, paths(missing))
	})
}

func TestOptions(t *testing.T) {
	for _, tc := range []struct {
		opt  cache.Option
		want []string
	}{
		{cache.WithDepth(0), []string{"/r"}},
		{cache.WithDepth(1), []string{"/r", "/r/a", "/r/c", "/r/new"}},
		{cache.WithFilter(func(p string) bool { return p != "/r/a" }), []string{"/r", "/r/c", "/r/new", "/r/new/deep"}},
		{cache.WithConcurrency(1), []string{"/r", "/r/a", "/r/a/b", "/r/c", "/r/new", "/r/new/deep"}},
	} {
		onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
			create(t, srv, "/r", "/r/a", "/r/a/b", "/r/c")
			c := open(t, client, "/r", tc.opt)
			create(t, srv, "/r/new", "/r/new/deep")
			require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
			require.Equal(t, tc.want, paths(c))
		})
	}
}

func TestWithoutDataReadsNone(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		create(t, srv, "/r", "/r/a")
		c := open(t, client, "/r", cache.WithoutData())
		require.NoError(t, srv.Set("/r/a", []byte("new")))
		require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
		n, _ := c.Get("/r/a")
		require.Nil(t, n.Data)
		require.EqualValues(t, 1, n.Stat.Version)
		require.Zero(t, srv.CountRequests(zktest.OpGetData))
	})
}

func TestBadArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, zktest.Start(t))
		for name, open := range map[string]func() error{
			"client": func() error { _, err := cache.New(nil, "/r"); return err },
			"option": func() error { _, err := cache.New(client, "/r", nil); return err },
			"filter": func() error { _, err := cache.New(client, "/r", cache.WithFilter(nil)); return err },
			"depth":  func() error { _, err := cache.New(client, "/r", cache.WithDepth(-1)); return err },
			"reads":  func() error { _, err := cache.New(client, "/r", cache.WithConcurrency(0)); return err },
		} {
			require.ErrorIs(t, open(), zk.ErrBadArguments, name)
		}
		_, err := cache.New(client, "r")
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		require.NoError(t, client.Close())
		_, err = cache.New(client, "/r")
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}

// Promise: WaitFor returns when the cache includes a given transaction.
func TestWriterReadsItsOwnWrites(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		create(t, srv, "/r")
		c, other := open(t, client, "/r"), connect(t, srv)
		for i := range 50 {
			writer := client
			if i%2 == 0 {
				writer = other
			}
			stat, err := writer.Set(t.Context(), "/r", fmt.Append(nil, i), framework.AnyVersion)
			require.NoError(t, err)
			require.NoError(t, c.WaitFor(within(t), stat.Mzxid))
			n, _ := c.Get("/r")
			require.Equal(t, strconv.Itoa(i), string(n.Data))
			require.GreaterOrEqual(t, c.Zxid(), stat.Mzxid)

			made, err := writer.Create(t.Context(), "/r/n", nil)
			require.NoError(t, err)
			require.NoError(t, c.WaitFor(within(t), made.Czxid))
			_, ok := c.Get("/r/n")
			require.True(t, ok)
			require.NoError(t, writer.Delete(t.Context(), "/r/n", framework.AnyVersion))
			require.NoError(t, c.WaitFor(within(t), writer.LastZxid()))
			_, ok = c.Get("/r/n")
			require.False(t, ok)
		}
		// A transaction that is none of the tree's.
		made, err := other.Create(t.Context(), "/elsewhere", nil)
		require.NoError(t, err)
		require.NoError(t, c.WaitFor(within(t), made.Czxid))
		require.ErrorIs(t, c.WaitFor(within(t), srv.Stats().Zxid+1000), cache.ErrFutureZxid)
	})
}

// A leader answers a sync before it has applied what its followers have
// acknowledged. A number that is the next is still of no transaction.
//
// Promise: WaitFor does not miss a transaction because a server lags.
func TestWaitForAtALeaderThatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		leader := ens.Leader()
		writer, client := connect(t, ens.Members()[0].Server), connect(t, leader.Server)
		create(t, leader.Server, "/r")
		c := open(t, client, "/r")
		require.NoError(t, writer.WaitConnected(within(t)))
		require.NoError(t, leader.Lag(time.Second))

		made, err := writer.Create(t.Context(), "/r/n", nil)
		require.NoError(t, err)
		require.Less(t, client.LastZxid(), made.Czxid)
		require.NoError(t, c.WaitFor(within(t), made.Czxid))
		require.Equal(t, []string{"/r", "/r/n"}, paths(c))
		for range 3 {
			require.ErrorIs(t, c.WaitFor(within(t), ens.Members()[0].Stats().Zxid+1), cache.ErrFutureZxid)
		}
	})
}

func TestUnreadableNodesAreReportedAndNotFatal(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		create(t, srv, "/r", "/r/a")
		owner := connect(t, srv, framework.WithAuth("digest", []byte("me:secret")))
		_, err := owner.Create(t.Context(), "/r/secret", nil, framework.WithACL(zk.DigestACL(zk.PermAll, "me", "secret")))
		require.NoError(t, err)
		c := open(t, client, "/r")
		require.Equal(t, []string{"/r", "/r/a"}, paths(c))
		require.Len(t, c.Unreadable(), 1)
		require.ErrorIs(t, c.Unreadable()["/r/secret"], zk.ErrNoAuth)
		create(t, srv, "/r/b")
		require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
		require.Equal(t, []string{"/r", "/r/a", "/r/b"}, paths(c))

		_, err = owner.SetACL(t.Context(), "/r/secret", zk.WorldACL(zk.PermAll), framework.AnyVersion)
		require.NoError(t, err)
		srv.CutAll()
		time.Sleep(5 * time.Second)
		require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
		require.Equal(t, []string{"/r", "/r/a", "/r/b", "/r/secret"}, paths(c))
		require.Empty(t, c.Unreadable())
	})
}

// The right to read is taken away. The cache does not ask for little data and
// for much in the same way, nor for one node and for several.
//
// Promise: A node that may no longer be read leaves the cache.
func TestNodeThatMayNotBeReadAnyMoreLeavesTheCache(t *testing.T) {
	for _, size := range []int{0, 10, 1024, 1025, 100_000} {
		for _, nodes := range []int{1, 5} {
			t.Run(fmt.Sprintf("%d nodes of %d bytes", nodes, size), func(t *testing.T) {
				onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
					owner := connect(t, srv, framework.WithAuth("digest", []byte("me:secret")))
					create(t, srv, "/r")
					secret := map[string]bool{}
					for i := range nodes {
						path := fmt.Sprint("/r/", i)
						_, err := owner.Create(t.Context(), path, make([]byte, size))
						require.NoError(t, err)
						secret[path] = true
					}
					c := open(t, client, "/r")
					require.Len(t, paths(c), 1+nodes)
					for path := range secret {
						_, err := owner.SetACL(t.Context(), path, zk.DigestACL(zk.PermAll, "me", "secret"), framework.AnyVersion)
						require.NoError(t, err)
					}
					srv.Session(client.SessionID()).Expire()
					time.Sleep(5 * time.Second)
					require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
					require.Equal(t, []string{"/r"}, paths(c))
					require.Len(t, c.Unreadable(), nodes)
				})
			})
		}
	}
}
