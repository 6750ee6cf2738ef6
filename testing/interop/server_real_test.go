//go:build real

package interop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/testing/zktest"
)

// TestMain ends what the tests share after the last test, and then looks for
// leaked goroutines.
func TestMain(m *testing.M) {
	if text := os.Getenv(envBench); text != "" {
		if err := serveBench(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if lock := os.Getenv(envHolds); lock != "" {
		if err := holdUntilEnd(lock); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	thorough.Parallel(16) // they mostly wait for the end of sessions
	leaktest.Main(m, sharedHost.close, zkserver.CloseShared)
}

// These are session timeouts. The long one never expires by accident. The short
// one is for tests that wait for the end of a session, on a machine that may be
// busy.
const (
	longSession  = 30 * time.Second
	shortSession = 8 * time.Second
)

// testServer is a server that both languages connect to.
type testServer struct {
	addr string
	// watches returns the number of watches at or below path.
	watches func(path string) (int, error)
	// reap deletes empty containers, if the server does not do so by itself.
	reap func()
	// lives reports whether a session has not ended at the server.
	lives func(session int64) (bool, error)
	// observer is a client that has no part in the scenario.
	observer *framework.Client
}

// onFakeAndReal runs a scenario on zktest over TCP and at the same time on real
// ZooKeeper. The test is parallel from here on.
func onFakeAndReal(t *testing.T, scenario func(t *testing.T, srv *testServer)) {
	t.Helper()
	javaCurator.get(t)
	t.Parallel()
	t.Run("zktest", func(t *testing.T) {
		t.Parallel()
		scenario(t, newFakeServer(t))
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		scenario(t, newRealServer(t))
	})
}

func newFakeServer(t *testing.T) *testServer {
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	w := &testServer{
		addr: srv.Addr(),
		watches: func(path string) (n int, _ error) {
			for _, w := range srv.Watches() {
				if strings.HasPrefix(w.Path, path) {
					n++
				}
			}
			return n, nil
		},
		reap: func() { zkinside.Of(srv).ReapContainers() },
		lives: func(session int64) (bool, error) {
			of := func(s zktest.SessionInfo) bool { return s.ID == session }
			return slices.ContainsFunc(srv.Sessions(), of), nil
		},
	}
	w.observer = w.connect(t, longSession)
	t.Cleanup(func() {
		// The machine was too busy if these are more than the test has crashed.
		if t.Failed() {
			t.Logf("%d sessions timed out", srv.Stats().Expired)
		}
	})
	return w
}

func newRealServer(t *testing.T) *testServer {
	srv := sharedServer(t)
	w := &testServer{
		addr: srv.Addr(),
		watches: func(path string) (n int, _ error) {
			// Each path is followed by its watchers.
			byPath, err := srv.FourLetter(context.Background(), "wchp")
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
	w.lives = func(session int64) (bool, error) {
		// The server has then done with all requests of before, such as the
		// end of a session.
		if err := w.observer.Sync(context.Background(), "/"); err != nil {
			return false, err
		}
		dump, err := srv.FourLetter(context.Background(), "dump")
		sessions, _, _ := strings.Cut(dump, "ephemeral nodes dump")
		return slices.Contains(strings.Fields(sessions), fmt.Sprintf("0x%x", session)), err
	}
	return w
}

// sharedServer returns the real server of all tests. It deletes an empty lock
// path at once, and not within a minute, so that contenders of both languages
// meet paths that vanish.
func sharedServer(t *testing.T) *zkserver.Server {
	t.Helper()
	return zkserver.Shared(t, zkserver.WithContainerCheckInterval(20*time.Millisecond))
}

// connect returns a client that is closed at the end of the test.
func (srv *testServer) connect(
	t *testing.T, session time.Duration, opts ...framework.Option,
) *framework.Client {
	t.Helper()
	c, err := framework.New(srv.addr, append(opts, framework.WithSessionTimeout(session))...)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.WaitConnected(withDeadline(t)))
	return c
}

// waitLimit is longer than anything a scenario waits for, even on a busy
// machine.
const waitLimit = time.Minute

func withDeadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), waitLimit)
	t.Cleanup(cancel)
	return ctx
}

// lockPath returns a path that no other test uses, not even in a second run on
// the same server.
func lockPath(t *testing.T) string {
	name := strings.NewReplacer("/", "-", "#", "-").Replace(t.Name())
	return fmt.Sprintf("/%s-%d", name, time.Now().UnixNano())
}

// waitNodes waits until a path has n children.
func (srv *testServer) waitNodes(t *testing.T, path string, n int) []string {
	t.Helper()
	names, err := srv.awaitNodes(withDeadline(t), path, n)
	require.NoError(t, err)
	return names
}

// awaitNodes is waitNodes with a context.
func (srv *testServer) awaitNodes(ctx context.Context, path string, n int) ([]string, error) {
	for {
		names, _, change, err := srv.children(ctx, path)
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

// children returns the children of a node that may not exist, and a watch for
// the next change. The Stat of a node that does not exist is nil.
func (srv *testServer) children(
	ctx context.Context, path string,
) ([]string, *zk.Stat, *framework.Watch, error) {
	for {
		names, stat, change, err := srv.observer.ChildrenW(ctx, path)
		if !errors.Is(err, zk.ErrNoNode) {
			return names, stat, change, err
		}
		exists, _, change, err := srv.observer.ExistsW(ctx, path)
		if err != nil || !exists {
			return nil, nil, change, err
		}
		change.Stop()
	}
}

// requireNothingLeft waits until there is no contender and no watch on one.
func (srv *testServer) requireNothingLeft(t *testing.T, path string) {
	t.Helper()
	srv.waitNodes(t, path, 0)
	srv.waitWatched(t, path, false)
}

// watchTimeout is how long a watch may take to come or go. It is less than a
// minute: after that time zktest removes empty containers, and with them any
// watches that were forgotten there.
const watchTimeout = 20 * time.Second

// waitWatched waits until there is, or is no, watch at or below a path.
func (srv *testServer) waitWatched(t *testing.T, path string, want bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		n, err := srv.watches(path)
		return err == nil && (n > 0) == want
	}, watchTimeout, 10*time.Millisecond, "watches on %s", path)
}
