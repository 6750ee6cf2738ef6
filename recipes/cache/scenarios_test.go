package cache_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// These are scenarios of Java Curator's tests, and bugs that it had.

// A namespace is taken away once from paths that begin with its text, in events
// as well as in what is read.
func TestCacheInANamespaceHasItsPaths(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		create(t, srv, "/r", "/r/r", "/r/r/r", "/r/rest")
		view, err := client.Namespace("/r")
		require.NoError(t, err)
		c := open(t, view, "/r")
		require.Equal(t, []string{"/r", "/r/r"}, paths(c))
		require.NoError(t, srv.Set("/r/r/r", []byte("new")))
		create(t, srv, "/r/r/r/r", "/r/new")
		require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
		require.Equal(t, []string{"/r", "/r/r", "/r/r/r"}, paths(c))
		n, _ := c.Get("/r/r")
		require.Equal(t, "new", string(n.Data))
		require.Equal(t, []string{"/r/r"}, pathsOf(slices.Collect(c.Children("/r"))))
		require.NoError(t, srv.Delete("/r/r/r/r"))
		require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
		require.Equal(t, []string{"/r", "/r/r"}, paths(c))
	})
}

func pathsOf(list []cache.Node) (paths []string) {
	for _, n := range list {
		paths = append(paths, n.Path)
	}
	return paths
}

// The session is lost again and again, also while the cache looks at the tree
// anew. There is one watch in the end, and the cache is right.
func TestCacheOutlivesOneSessionAfterTheOther(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		create(t, srv, "/r", "/r/a")
		c := open(t, client, "/r")
		watches := len(srv.Watches())
		for i := range 10 {
			srv.Session(client.SessionID()).Expire()
			time.Sleep(time.Duration(i*i) * time.Millisecond)
			require.NoError(t, srv.Set("/r/a", []byte{byte(i)}))
		}
		require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
		n, _ := c.Get("/r/a")
		require.Equal(t, []byte{9}, n.Data)
		synctest.Wait()
		require.Len(t, srv.Watches(), watches)
	})
}
