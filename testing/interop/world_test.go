package interop_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/testing/zkserver"
	"github.com/gocurator/curator/testing/zktest"
)

// TestMain ends what tests share after the last of them, and then looks for leaked goroutines.
func TestMain(m *testing.M) {
	if addr := os.Getenv(envServers); addr != "" {
		if err := serveRounds(addr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	waitTogether()
	leaktest.Main(m, realServer.close, javaCurator.close)
}

// waitTogether lets more tests run at the same time than there are processors, unless the command line says how many: what
// those tests that may do is to wait for the end of sessions, most of the time.
func waitTogether() {
	const parallel = "test.parallel"
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == parallel })
	if !asked {
		flag.Set(parallel, strconv.Itoa(max(4, runtime.GOMAXPROCS(0))))
	}
}

// Session timeouts. Nobody loses a session of the long kind by accident; the short kind is for tests that wait for its end, on
// a machine that may be busy.
const (
	longSession  = 30 * time.Second
	shortSession = 8 * time.Second
)

// world is the server that both languages meet on.
type world struct {
	addr     string
	watches  func(path string) (int, error) // how many there are, of nodes at or below path
	reap     func()                         // empty containers, if the server does not do so by itself
	observer *framework.Client              // looks on; has no part in the scenario
}

// inBothWorlds runs a scenario on zktest over TCP and, at the same time, on real ZooKeeper.
func inBothWorlds(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	javaCurator.get(t)
	t.Run("zktest", func(t *testing.T) {
		t.Parallel()
		scenario(t, newFakeWorld(t))
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		scenario(t, newRealWorld(t))
	})
}

func newFakeWorld(t *testing.T) *world {
	srv := zktest.New(t, zktest.WithTCP("127.0.0.1:0"))
	w := &world{
		addr: srv.Addr(),
		watches: func(path string) (n int, _ error) {
			for _, w := range srv.Watches() {
				if strings.HasPrefix(w.Path, path) {
					n++
				}
			}
			return n, nil
		},
		reap: func() { srv.ReapContainers() },
	}
	w.observer = w.connect(t, longSession)
	t.Cleanup(func() {
		if t.Failed() { // of a machine that was too busy, if these are more than the test crashed
			t.Logf("%d sessions timed out", srv.Stats().Expired)
		}
	})
	return w
}

func newRealWorld(t *testing.T) *world {
	srv := realServer.get(t)
	w := &world{
		addr: srv.Addr(),
		watches: func(path string) (n int, _ error) {
			byPath, err := srv.FourLetter(context.Background(), "wchp") // each path, and then who watches it
			counts := false
			for line := range strings.Lines(byPath) {
				if strings.HasPrefix(line, "/") {
					counts = strings.HasPrefix(line, path)
				} else if counts && strings.Contains(line, "0x") {
					n++
				}
			}
			return n, err
		},
		reap: func() {},
	}
	w.observer = w.connect(t, longSession)
	return w
}

// realServer is started by the first test that needs it and serves all of them.
var realServer sharedServer

type sharedServer struct {
	once sync.Once
	srv  *zkserver.Server
}

// get's server deletes an empty lock path at once, instead of within a minute, so that contenders of both languages run
// into paths that vanish.
func (s *sharedServer) get(t *testing.T) *zkserver.Server {
	t.Helper()
	s.once.Do(func() { s.srv = zkserver.Start(sharedTB{t}, zkserver.WithContainerCheckInterval(20*time.Millisecond)) })
	if s.srv == nil {
		t.Skip("no real ZooKeeper: see the first skipped test")
	}
	return s.srv
}

func (s *sharedServer) close() {
	if s.srv != nil {
		s.srv.Close()
	}
}

// sharedTB keeps what zkserver.Start registers for the end of one test from ending a server that others share.
type sharedTB struct{ *testing.T }

func (sharedTB) Cleanup(func()) {}

// connect returns a client that is closed at the end of the test.
func (w *world) connect(t *testing.T, session time.Duration, opts ...framework.Option) *framework.Client {
	t.Helper()
	c, err := framework.New(w.addr, append(opts, framework.WithSessionTimeout(session))...)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.WaitConnected(patience(t)))
	return c
}

// tooLong is longer than anything a scenario waits for, on a busy machine too.
const tooLong = time.Minute

func patience(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), tooLong)
	t.Cleanup(cancel)
	return ctx
}

// lockPath is one that no other test uses, not even in a second run on the same server.
func lockPath(t *testing.T) string {
	name := strings.NewReplacer("/", "-", "#", "-").Replace(t.Name())
	return fmt.Sprintf("/%s-%d", name, time.Now().UnixNano())
}

// waitNodes waits until a path has n children.
func (w *world) waitNodes(t *testing.T, path string, n int) []string {
	t.Helper()
	names, err := w.awaitNodes(patience(t), path, n)
	require.NoError(t, err)
	return names
}

// awaitNodes is waitNodes for as long as ctx.
func (w *world) awaitNodes(ctx context.Context, path string, n int) ([]string, error) {
	for {
		names, change, err := w.children(ctx, path)
		if err != nil {
			return nil, err
		}
		if len(names) == n {
			change.Stop()
			return names, nil
		}
		if _, err = change.Wait(ctx); err != nil {
			return nil, fmt.Errorf("waiting for %d children of %s, which has %v: %w", n, path, names, err)
		}
	}
}

// children returns the children of a node that may not exist, and a watch for the next change.
func (w *world) children(ctx context.Context, path string) ([]string, *framework.Watch, error) {
	for {
		names, _, change, err := w.observer.ChildrenW(ctx, path)
		if !errors.Is(err, zk.ErrNoNode) {
			return names, change, err
		}
		exists, _, change, err := w.observer.ExistsW(ctx, path)
		if err != nil || !exists {
			return nil, change, err
		}
		change.Stop()
	}
}

// nothingLeft waits until there is no contender and nobody watches one.
func (w *world) nothingLeft(t *testing.T, path string) {
	t.Helper()
	w.waitNodes(t, path, 0)
	w.waitWatched(t, path, false)
}

// settled is how long a watch may take to come or go. It is less than the minute after which zktest removes empty containers,
// and with them the watches that somebody has forgotten there.
const settled = 20 * time.Second

// waitWatched waits until there is, or is no, watch at or below a path.
func (w *world) waitWatched(t *testing.T, path string, want bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		n, err := w.watches(path)
		return err == nil && (n > 0) == want
	}, settled, 10*time.Millisecond, "watches on %s", path)
}

// waitWatches waits until there are n watches at or below a path.
func (w *world) waitWatches(t *testing.T, path string, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		got, err := w.watches(path)
		return err == nil && got == n
	}, settled, 10*time.Millisecond, "watches on %s", path)
}
