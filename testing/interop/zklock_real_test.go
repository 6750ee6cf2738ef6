//go:build real

package interop_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/kazootest"
)

// zklockDir has the program, for the tests that need it.
var zklockDir string

// buildZklock builds the program once and returns its path. The end of the test
// program deletes it.
var buildZklock = sync.OnceValues(func() (program string, err error) {
	if zklockDir, err = os.MkdirTemp("", "zklock"); err != nil {
		return "", err
	}
	program = filepath.Join(zklockDir, "zklock")
	if out, err := exec.CommandContext(context.Background(), "go", "build", "-o", program, "../../cmd/zklock").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return program, nil
})

func deleteZklock() error { return os.RemoveAll(zklockDir) }

// zklockOf returns what runs command lines of the program with a server.
func zklockOf(t *testing.T, addr string) func(args ...string) string {
	t.Helper()
	program, err := buildZklock()
	require.NoError(t, err)
	return func(args ...string) string {
		out, err := exec.CommandContext(withDeadline(t), program, append([]string{"-S", addr}, args...)...).CombinedOutput()
		require.NoError(t, err, "%q: %s", args, out)
		return string(out)
	}
}

// requireRow checks that one row of a table has these words, one after the
// other, though other words may be in between.
func requireRow(t *testing.T, table string, words ...string) {
	t.Helper()
	for row := range strings.Lines(table) {
		left := strings.Fields(row)
		found := 0
		for _, word := range left {
			if found < len(words) && word == words[found] {
				found++
			}
		}
		if found == len(words) {
			return
		}
	}
	t.Errorf("no row has %q:\n%s", words, table)
}

// Java's holders and waiters appear in zklock's tables.
func TestZklockShowsJava(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		run := zklockOf(t, srv.addr)
		root := lockPath(t)
		java, other := startPeer(t, srv.addr, longSession), startPeer(t, srv.addr, longSession)
		acquire(t, javaContender{java, "m", mutex}, root+"/mutex")
		acquire(t, javaContender{java, "r", reading}, root+"/rw")
		acquire(t, javaContender{java, "s", leases(2, 2)}, root+"/semaphore")
		waiter := acquireLater(javaContender{other, "m", mutex}, root+"/mutex", waitLimit)
		srv.waitNodes(t, root+"/mutex", 2)

		list := run("ls", root)
		requireRow(t, list, root+"/mutex", "mutex", "1", "1", "?")
		requireRow(t, list, root+"/rw", "read_write_lock", "1", "0")
		requireRow(t, list, root+"/semaphore", "semaphore", "2/?", "0")
		queue := run("show", root+"/mutex")
		requireRow(t, queue, "*", "?")
		requireRow(t, queue, "1", "?")
		requireRow(t, run("show", root+"/rw"), "*", "read", "?")
		requireRow(t, run("graph", root), "(session", root+"/mutex", "mutex")
		java.endCommands()
		require.NoError(t, waiter.wait(t).release())
	})
}

// So do kazoo's.
func TestZklockShowsKazoo(t *testing.T) {
	python := kazootest.Python(t)
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		run := zklockOf(t, srv.addr)
		root := lockPath(t)
		cmd := exec.CommandContext(withDeadline(t), python, filepath.Join("python", "hold.py"), srv.addr, root)
		cmd.Stderr = t.Output()
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		line, err := bufio.NewReader(stdout).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "held\n", line)
		srv.awaitSeen(t, root,
			"/election kazoo mutex 1 0", "/lock kazoo mutex 1 1", "/locking kazoo queue 1 0", "/party  registrations 1 0",
			"/queue kazoo queue 0 0", "/rw kazoo read_write_lock 1 1", "/semaphore kazoo semaphore 1 1",
		)

		list := run("ls", root, "--kind", "all")
		requireRow(t, list, root+"/election", "mutex", "1", "0", "?", "leader")
		requireRow(t, list, root+"/lock", "mutex", "1", "1", "?", "one")
		requireRow(t, list, root+"/party", "registrations", "1", "0", "?", "member")
		requireRow(t, list, root+"/queue", "queue", "0", "2", "items")
		requireRow(t, list, root+"/semaphore", "semaphore", "1/1", "1")
		queue := run("show", root+"/lock")
		requireRow(t, queue, "*", "?", "one")
		requireRow(t, queue, "1", "?", "two")
		require.NoError(t, stdin.Close())
		require.NoError(t, cmd.Wait())
	})
}
