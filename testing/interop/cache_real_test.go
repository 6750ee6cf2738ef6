//go:build real

package interop_test

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/kazootest"
	"github.com/gocurator/curator/recipes/cache"
)

// cached describes the nodes of a cache, as PATH=DATA.
func cached(c *cache.Cache) (all []string) {
	for n := range c.All() {
		all = append(all, n.Path+"="+string(n.Data))
	}
	return all
}

// openCache returns a cache that is filled, and closed at the end of the test.
func openCache(t *testing.T, c *framework.Client, root string) *cache.Cache {
	t.Helper()
	ours, err := cache.New(c, root)
	require.NoError(t, err)
	t.Cleanup(func() { ours.Close() })
	require.NoError(t, ours.WaitSynced(withDeadline(t)))
	return ours
}

// write is one change of a tree.
type write struct{ name, data string } // below the root; data "" deletes

// writes are changes of a tree, among them a node that is deleted and created
// again, and a subtree that goes.
var writes = []write{
	{"", "root"}, {"/a", "1"}, {"/a/b", "2"}, {"/c", "3"}, {"/a", "4"},
	{"/c", ""}, {"/c", "3"}, {"/a", ""}, {"/d/e/f", "5"}, {"/d", "6"}, {"/d/e/f", ""},
}

// writeTree makes the changes below a root, one after the other in turn by the
// two languages, and returns what is there at the end, as PATH=DATA.
func (srv *testServer) writeTree(t *testing.T, java *peer, root string) []string {
	t.Helper()
	ctx := withDeadline(t)
	for i, w := range writes {
		path := root + w.name
		switch {
		case i%2 == 0 && w.data == "":
			java.must(t, "node-delete", path)
		case i%2 == 0:
			java.must(t, "node-write", path, w.data)
		case w.data == "":
			require.NoError(t, srv.observer.Delete(ctx, path, framework.AnyVersion, framework.WithChildren()))
		default:
			_, err := srv.observer.Create(ctx, path, []byte(w.data), framework.WithOverwrite(framework.AnyVersion), framework.WithParents())
			require.NoError(t, err)
		}
	}
	require.NoError(t, srv.observer.Sync(ctx, root)) // sees what Java has done last
	return []string{root + "=root", root + "/c=3", root + "/d=6", root + "/d/e="}
}

// A cache of either language has what both write: the same tree in the end,
// also if it loses its session meanwhile.
func TestCachesOfBothLanguagesHaveTheSameTree(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		java := startPeer(t, srv.addr, longSession)
		writer := startPeer(t, srv.addr, longSession)
		tap := &interceptor{}
		client := srv.connect(t, longSession, framework.WithDialer(tap.dial))
		root := lockPath(t)
		writer.must(t, "node-write", root, "first")
		ours := openCache(t, client, root)
		java.must(t, "node-cache", "theirs", root)
		require.Equal(t, []string{root + "=first"}, cached(ours))

		bothHave := func(want []string) {
			require.NoError(t, ours.WaitFor(withDeadline(t), srv.observer.LastZxid()))
			require.Equal(t, want, cached(ours))
			command := []any{"node-cached", "theirs", waitLimitMs}
			for _, node := range want {
				command = append(command, node)
			}
			java.must(t, command...)
		}
		bothHave(srv.writeTree(t, writer, root))

		id, password := tap.session(t)
		writer.must(t, "kill-session", id, password)
		java.must(t, "kill-session")
		bothHave(srv.writeTree(t, writer, root))
		writer.must(t, "node-delete", root)
		require.NoError(t, srv.observer.Sync(withDeadline(t), root))
		bothHave(nil)
	})
}

// kazoo's TreeCache ends with the same tree as ours.
func TestCacheHasTheTreeOfKazoos(t *testing.T) {
	python := kazootest.Python(t)
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		writer := startPeer(t, srv.addr, longSession)
		root := lockPath(t)
		writer.must(t, "node-write", root, "root")
		ours := openCache(t, srv.observer, root)
		theirs := startKazooCache(t, python, srv.addr, root)
		theirs.await(t, []string{root + "=root"})
		want := srv.writeTree(t, writer, root)
		require.NoError(t, ours.WaitFor(withDeadline(t), srv.observer.LastZxid()))
		require.Equal(t, want, cached(ours))
		theirs.await(t, want)
	})
}

// kazooCache is a TreeCache in another process.
type kazooCache struct{ trees chan []string } // as PATH=DATA, after each change

func startKazooCache(t *testing.T, python, addr, root string) kazooCache {
	t.Helper()
	cmd := exec.Command(python, filepath.Join("python", "treecache.py"), addr, root)
	log := &output{}
	cmd.Stderr = log
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	k := kazooCache{make(chan []string, 1000)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			k.trees <- strings.Fields(lines.Text())
		}
		cmd.Wait()
	}()
	t.Cleanup(func() {
		stdin.Close()
		select {
		case <-ended:
		case <-time.After(waitLimit):
			t.Error("kazoo's cache did not end by itself")
			cmd.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Logf("kazoo's cache wrote:\n%s", log.from(0))
		}
	})
	return k
}

// await waits until the cache has these nodes.
func (k kazooCache) await(t *testing.T, want []string) {
	t.Helper()
	ctx := withDeadline(t)
	var tree []string
	for !slices.Equal(tree, want) {
		select {
		case tree = <-k.trees:
		case <-ctx.Done():
			require.Equal(t, want, tree)
		}
	}
}
