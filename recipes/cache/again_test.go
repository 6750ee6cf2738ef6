package cache_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// A failing server answers the read of a changed node with an error. No event says when
// the server would answer.
//
// Promise: A node that a server failed to read is read again without an event.
func TestNodeIsReadAgainAfterTrouble(t *testing.T) {
	for _, code := range []zktest.Code{-1, -5, -122} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
				create(t, srv, "/r", "/r/a")
				c := open(t, client, "/r")
				srv.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/r/a", Times: 5, Do: zktest.Fail(code)})
				require.NoError(t, srv.Set("/r/a", []byte("new")))
				synctest.Wait()
				require.Equal(t, []string{"/r"}, paths(c))
				time.Sleep(time.Minute)
				require.Equal(t, []string{"/r", "/r/a"}, paths(c))
				n, _ := c.Get("/r/a")
				require.Equal(t, "new", string(n.Data))
				require.Empty(t, c.Unreadable())
			})
		})
	}
}

// Servers tell nobody of a new ACL. Reads that are refused are few, and are no
// steps of the cache.
func TestNodeThatMayBeReadByNowComesBack(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		create(t, srv, "/r")
		owner := connect(t, srv, framework.WithAuth("digest", []byte("me:secret")))
		_, err := owner.Create(t.Context(), "/r/secret", nil, framework.WithACL(zk.DigestACL(zk.PermAll, "me", "secret")))
		require.NoError(t, err)
		c := open(t, client, "/r")
		var told story
		told.follow(t, c)
		require.Equal(t, []string{"created /r", "synced"}, told.next())
		srv.ClearRequests()
		time.Sleep(20 * time.Minute)
		require.Len(t, c.Unreadable(), 1)
		require.LessOrEqual(t, reads(srv), 5)
		require.Empty(t, told.next())

		_, err = owner.SetACL(t.Context(), "/r/secret", zk.WorldACL(zk.PermAll), framework.AnyVersion)
		require.NoError(t, err)
		time.Sleep(10 * time.Minute)
		require.Equal(t, []string{"/r", "/r/secret"}, paths(c))
		require.Equal(t, []string{"created /r/secret"}, told.next())
		require.Empty(t, c.Unreadable())
	})
}

// What may not be read at first is the cache's own path. That is one node, and all
// that the cache is for: those who wait are not to wait for minutes.
func TestRootThatMayBeReadByNowComesBackSoon(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		owner := connect(t, srv, framework.WithAuth("digest", []byte("me:secret")))
		_, err := owner.Create(t.Context(), "/r", nil, framework.WithACL(zk.DigestACL(zk.PermAll, "me", "secret")))
		require.NoError(t, err)
		create(t, srv, "/r/a")
		c := open(t, client, "/r")
		srv.ClearRequests()
		time.Sleep(20 * time.Minute)
		require.Empty(t, paths(c))
		require.LessOrEqual(t, reads(srv), 50, "pauses of half a minute")
		_, err = owner.SetACL(t.Context(), "/r", zk.WorldACL(zk.PermAll), framework.AnyVersion)
		require.NoError(t, err)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"/r", "/r/a"}, paths(c))

		// The first second is enough if that is all it took.
		_, err = owner.SetACL(t.Context(), "/r", zk.DigestACL(zk.PermAll, "me", "secret"), framework.AnyVersion)
		require.NoError(t, err)
		other := open(t, connect(t, srv), "/r")
		require.Empty(t, paths(other))
		_, err = owner.SetACL(t.Context(), "/r", zk.WorldACL(zk.PermAll), framework.AnyVersion)
		require.NoError(t, err)
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, []string{"/r", "/r/a"}, paths(other))
	})
}

// reads returns how many requests have read something.
func reads(srv *zktest.Server) (n int) {
	for _, op := range []zktest.Op{zktest.OpGetData, zktest.OpExists, zkinside.OpGetChildren2, zkinside.OpMultiRead} {
		n += srv.CountRequests(op)
	}
	return n
}
