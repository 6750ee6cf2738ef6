package framework_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// namespace is Namespace for a path that is known to be good.
func namespace(t *testing.T, c *framework.Client, path string) *framework.Client {
	t.Helper()
	view, err := c.Namespace(path)
	require.NoError(t, err)
	return view
}

func TestNamespaceIsPutBeforeEveryPathAndTakenFromWhatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		require.NoError(t, srv.Create("/root", nil))
		require.NoError(t, srv.Create("/root/shop", nil))
		c, err := framework.New(srv.Addr()+"/root", framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		shop := namespace(t, c, "/shop")

		created := mustCreate(t, shop, "/stock", "1")
		require.Equal(t, "/stock", created.Path)
		_, onServer := srv.Node("/root/shop/stock")
		require.True(t, onServer)
		protected := mustCreate(t, shop, "/shop/p", "", framework.WithProtection(), framework.WithParents())
		require.Regexp(t, "^/shop/_c_.*-p$", protected.Path, "only the first of two equal parts is the namespace")

		names, _, err := shop.Children(t.Context(), "/")
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"stock", "shop"}, names)

		_, _, err = shop.Get(t.Context(), "/none")
		require.EqualError(t, err, "get /none: zk: node does not exist")

		_, _, w, err := shop.GetW(t.Context(), "/stock")
		require.NoError(t, err)
		_, err = c.Set(t.Context(), "/shop/stock", []byte("2"), framework.AnyVersion)
		require.NoError(t, err)
		ev, err := w.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "/stock", ev.Path)
	})
}

func TestNamespaceHasEveryOperation(t *testing.T) {
	for name := range everyOperation(nil) {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				require.NoError(t, srv.Create("/n/a", nil))
				require.NoError(t, everyOperation(namespace(t, c, "/n"))[name](t.Context(), "/a"))
				synctest.Wait()
				for _, r := range srv.Requests() {
					if r.Path != "" {
						require.Regexp(t, "^/n/", r.Path, "%v", r)
					}
				}
			})
		})
	}
}

func TestNamespacesAddUp(t *testing.T) {
	c, err := framework.New("zk1/root")
	require.NoError(t, err)
	defer c.Close()
	a := namespace(t, c, "/a")
	b := namespace(t, a, "/b/c")
	for _, tc := range []struct {
		view       *framework.Client
		path, full string
	}{
		{c, "/", "/root"}, {c, "/x", "/root/x"},
		{a, "/", "/root/a"}, {a, "/x", "/root/a/x"},
		{b, "/", "/root/a/b/c"}, {b, "/x/y", "/root/a/b/c/x/y"},
		{namespace(t, b, "/"), "/x", "/root/a/b/c/x"},
		{namespace(t, b, "java"), "/x", "/root/a/b/c/java/x"}, {namespace(t, c, "a/b"), "/", "/root/a/b"},
		{framework.Extend(b).Root().Client, "/x", "/root/x"},
	} {
		require.Equal(t, tc.full, framework.Extend(tc.view).FullPath(tc.path))
		require.True(t, framework.Extend(c) == framework.Extend(tc.view).Root())
	}

	bare, err := framework.New("zk1")
	require.NoError(t, err)
	defer bare.Close()
	require.Equal(t, "/", framework.Extend(bare).FullPath("/"))
	require.Equal(t, "/a", framework.Extend(namespace(t, bare, "/a")).FullPath("/"))
	require.False(t, framework.Extend(c) == framework.Extend(bare).Root())
}

func TestNamespaceMustBeAPath(t *testing.T) {
	c, err := framework.New("zk1")
	require.NoError(t, err)
	defer c.Close()
	for _, path := range []string{"", "a/", "/a/", "//a", "a//b", "..", "/a/../b", "/\x00"} {
		view, err := c.Namespace(path)
		require.Nil(t, view)
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		var opErr *framework.OpError
		require.ErrorAs(t, err, &opErr)
		require.Equal(t, path, opErr.Path)
	}
}

func TestViewsAreOneClient(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/n", nil))
		require.NoError(t, srv.Create("/n/a", nil))
		view := namespace(t, c, "/n")
		require.Equal(t, c.SessionID(), view.SessionID())
		require.Len(t, srv.Sessions(), 1)

		_, _, w1, err := c.GetW(t.Context(), "/n/a")
		require.NoError(t, err)
		_, _, w2, err := view.GetW(t.Context(), "/a")
		require.NoError(t, err)
		require.Len(t, srv.Watches(), 1, "watches on the same node are shared")
		require.NoError(t, srv.Set("/n/a", []byte("x")))
		ev1, err := w1.Wait(t.Context())
		require.NoError(t, err)
		ev2, err := w2.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"/n/a", "/a"}, []string{ev1.Path, ev2.Path})

		seq := view.States(t.Context())
		srv.CutAll()
		for s := range seq {
			if s == state.Reconnected {
				break
			}
		}

		require.NoError(t, view.Close())
		_, _, err = c.Get(context.Background(), "/")
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}

// Promise: One transaction has operations on several views of a client, each with the
// paths of its view, also if its reply is lost.
func TestTransactionOfSeveralNamespaces(t *testing.T) {
	for _, lost := range []bool{false, true} {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			shop, audit := namespace(t, c, "/shop"), namespace(t, c, "/audit")
			mustCreate(t, shop, "/stock", "1")
			ops := []framework.TxnOp{
				framework.CheckOp("/shop/stock", 0).In(c),
				framework.DeleteOp("/stock", 0),
				framework.CreateOp("/entry-", []byte("sold"), framework.WithProtection()).In(audit),
				framework.CreateOp("/new/entry", nil, framework.WithParents()).In(audit),
			}
			if lost { // the first try lacks a parent
				srv.Inject(zktest.Rule{Op: zktest.OpMulti, After: 1, Do: zktest.DropReply()})
			}
			results, err := shop.Transaction(t.Context(), ops...)
			require.NoError(t, err)
			require.Equal(t, "/shop/stock", results[0].Path)
			require.Equal(t, "/stock", results[1].Path)
			require.Equal(t, "/new/entry", results[3].Path)
			data, _, err := audit.Get(t.Context(), results[2].Path)
			require.NoError(t, err)
			require.Equal(t, "sold", string(data))
			require.Len(t, srv.Children("/audit"), 2)

			_, err = shop.Transaction(t.Context(), framework.CheckOp("/none", 0).In(audit))
			var failed *framework.TxnError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, "/none", failed.Path)
			require.ErrorIs(t, err, zk.ErrNoNode)
		})
	}
}

func TestTransactionIsOfOneClient(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		other, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer other.Close()
		_, err = c.Transaction(t.Context(), framework.CreateOp("/a", nil), framework.CreateOp("/b", nil).In(other))
		var failed *framework.TxnError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, 1, failed.Index)
		requireConfigError(t, err, "view")
		require.NotContains(t, srv.Children("/"), "a")
	})
}
