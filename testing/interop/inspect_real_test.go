//go:build real

package interop_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/kazootest"
	"github.com/gocurator/curator/recipes/inspect"
)

// seen says of a recipe what a test compares: its kind, and how many hold it
// and wait.
func seen(root string, r inspect.Recipe) string {
	return fmt.Sprintf("%s %s %s %d %d", strings.TrimPrefix(r.Path, root), r.Layout, r.Kind, len(r.Holders), len(r.Waiters))
}

// awaitSeen waits until a walk sees this. Contenders may be on their way.
func (srv *testServer) awaitSeen(t *testing.T, root string, want ...string) (all []inspect.Recipe) {
	t.Helper()
	var got []string
	require.Eventually(t, func() bool {
		all, got = nil, nil
		for r, err := range inspect.Walk(withDeadline(t), srv.observer, root) {
			if err != nil {
				return false
			}
			all, got = append(all, r), append(got, seen(root, r))
		}
		return slices.Equal(want, got)
	}, waitLimit/2, 20*time.Millisecond)
	return all
}

// Java's holders and waiters are recognised by their nodes.
func TestInspectSeesJava(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		root := lockPath(t)
		java, other := startPeer(t, srv.addr, longSession), startPeer(t, srv.addr, longSession)
		for kind, path := range map[kind]string{
			mutex: "/mutex", reading: "/rw", leases(2, 2): "/semaphore", semaphoreMutex: "/one",
		} {
			acquire(t, javaContender{java, "thread" + path, kind}, root+path)
		}
		ends := []*pending{
			acquireLater(javaContender{other, "m", mutex}, root+"/mutex", waitLimit),
			acquireLater(javaContender{other, "w", writing}, root+"/rw", waitLimit),
			acquireLater(javaContender{other, "s", leases(1, 2)}, root+"/semaphore", waitLimit),
		}
		for _, way := range []string{"latch", "selector"} {
			java.must(t, "lead", "id-of-"+way, root+"/"+way, way)
			java.must(t, "await-leadership", "id-of-"+way, waitLimit.Milliseconds())
		}

		all := srv.awaitSeen(t, root,
			"/latch curator leader_latch 1 0", "/mutex curator mutex 1 1", "/one curator semaphore 1 0",
			"/rw curator read_write_lock 1 1", "/selector curator mutex 1 0", "/semaphore curator semaphore 3 1",
		)
		require.Equal(t, "id-of-latch", all[0].Holders[0].ID)
		require.Equal(t, "id-of-selector", all[4].Holders[0].ID)
		require.Contains(t, all[4].MayBe, inspect.Kind("leader_selector"))
		require.Contains(t, all[2].MayBe, inspect.Kind("semaphore_mutex"))
		require.True(t, all[3].Holders[0].Reader)
		require.False(t, all[5].Holders[0].Unsure)
		require.True(t, all[5].Holders[2].Unsure, "the next one's lease")
		java.endCommands()
		for _, end := range ends {
			require.NoError(t, end.wait(t).release())
		}
	})
}

// A Java process and a Go process that lock in opposite order are named.
func TestInspectFindsDeadlockOfBothLanguages(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		root := lockPath(t)
		ours := goContender{client: srv.connect(t, longSession)}
		java := javaContender{peer: startPeer(t, srv.addr, longSession), name: "thread"}
		a, b := acquire(t, ours, root+"/a"), acquire(t, java, root+"/b")
		first := acquireLater(ours, root+"/b", waitLimit)
		srv.waitNodes(t, root+"/b", 2)
		second := acquireLater(java, root+"/a", waitLimit)
		srv.waitNodes(t, root+"/a", 2)
		graph, err := inspect.WaitGraph(withDeadline(t), srv.observer, []string{root})
		require.NoError(t, err)
		require.Len(t, graph.Deadlocks, 1)
		d := graph.Deadlocks[0]
		require.Len(t, d.Processes, 2)
		for _, part := range d.Cycle {
			if part.Path == root+"/b" {
				require.Equal(t, ours.client.SessionID(), part.Waiters[0].Session)
				require.Equal(t, b.node, part.Holders[0].Path)
			} else {
				require.Equal(t, a.node, part.Holders[0].Path)
			}
		}
		require.NoError(t, a.release())
		require.NoError(t, second.wait(t).release())
		require.NoError(t, b.release())
		require.NoError(t, first.wait(t).release())
	})
}

// Kazoo's holders and waiters are recognised by their nodes.
func TestInspectSeesKazoo(t *testing.T) {
	python := kazootest.Python(t)
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		root := lockPath(t)
		cmd := exec.CommandContext(withDeadline(t), python, filepath.Join("python", "hold.py"), srv.addr, root)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		line, err := bufio.NewReader(stdout).ReadString('\n')
		require.NoError(t, err, &stderr)
		require.Equal(t, "held\n", line)

		all := srv.awaitSeen(t, root,
			"/election kazoo mutex 1 0", "/lock kazoo mutex 1 1", "/locking kazoo queue 1 0", "/party  registrations 1 0",
			"/queue kazoo queue 0 0", "/rw kazoo read_write_lock 1 1", "/semaphore kazoo semaphore 1 1",
		)
		require.Equal(t, "leader", all[0].Holders[0].ID)
		require.Contains(t, all[0].MayBe, inspect.Kind("election"))
		require.Equal(t, "one", all[1].Holders[0].ID)
		require.Equal(t, "two", all[1].Waiters[0].ID)
		require.Equal(t, 2, all[4].Items)
		require.Equal(t, "member", all[3].Holders[0].ID)
		require.Equal(t, "reader", all[5].Holders[0].ID)
		require.Equal(t, 1, *all[6].Limit)
		require.Contains(t, all[6].Waiters[0].ID, "two", "kazoo quotes it")
		require.NoError(t, stdin.Close())
		require.NoError(t, cmd.Wait(), &stderr)
	})
}
