package recipes_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zkserver"
	"github.com/gocurator/curator/testing/zktest"
)

// world is where a scenario takes place: a server, in virtual or in real time.
type world struct {
	addr    string
	dial    framework.DialFunc
	session time.Duration // the session timeout of clients
	stop    func()        // the server, keeping its data
	start   func()
	watches func() int // on the server
	fake    *zktest.Server

	observer *framework.Client // looks on; has no part in the scenario
}

// TestMain ends the shared real servers after the last test, and then looks for leaked goroutines.
func TestMain(m *testing.M) {
	leaktest.Main(m, realServer.close, realEnsemble.close)
}

// inBothWorlds runs a scenario on zktest in virtual time, and on real ZooKeeper.
func inBothWorlds(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	t.Run("virtual", func(t *testing.T) { inVirtualTime(t, scenario) })
	t.Run("real", func(t *testing.T) {
		scenario(t, newRealWorld(t))
	})
}

func inVirtualTime(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.New(t)
		w := &world{
			addr:    srv.Addr(),
			dial:    srv.Dialer(),
			session: 9 * time.Second,
			stop:    srv.Stop,
			start:   srv.Start,
			watches: func() int { return len(srv.Watches()) },
			fake:    srv,
		}
		w.observer, _ = w.connect(t)
		scenario(t, w)
	})
}

// realServer is started by the first test that needs it and serves all of them.
var realServer sharedServer

type sharedServer struct {
	once sync.Once
	srv  *zkserver.Server
}

func (s *sharedServer) get(t *testing.T) *zkserver.Server {
	t.Helper()
	s.once.Do(func() { s.srv = zkserver.Start(sharedTB{t}) })
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

func newRealWorld(t *testing.T) *world { return realWorldOf(t, realServer.get(t)) }

func realWorldOf(t *testing.T, srv *zkserver.Server) *world {
	w := &world{
		addr:    srv.Addr(),
		dial:    (&net.Dialer{}).DialContext,
		session: sturdy,
		stop:    func() { require.NoError(t, srv.Stop()) },
		start:   func() { require.NoError(t, srv.Restart()) },
		watches: func() int {
			n, err := srv.Watches(t.Context())
			require.NoError(t, err)
			return n
		},
	}
	w.observer, _ = w.connect(t)
	return w
}

// mortality is the session timeout of clients whose session is going to end by itself.
const mortality = 3 * time.Second

// mortal are the options of such a client. In real time it gives its session up long before the server does, so that the
// scheduler of a busy machine has no say in which comes first.
func (w *world) mortal(opts ...framework.Option) []framework.Option {
	opts = append(opts, framework.WithSessionTimeout(mortality))
	if w.fake == nil {
		opts = append(opts, framework.WithSafetyMargin(0.5))
	}
	return opts
}

// connect returns a client, closed at the end of the test, and its wire.
func (w *world) connect(t *testing.T, opts ...framework.Option) (*framework.Client, *wire) {
	t.Helper()
	knife := &wire{dial: w.dial}
	c, err := framework.New(w.addr, append([]framework.Option{
		framework.WithDialer(knife.Dial),
		framework.WithSessionTimeout(w.session),
	}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.WaitConnected(w.patience(t)))
	return c, knife
}

// patience is a context that outlasts everything a scenario waits for.
func (w *world) patience(t testing.TB) context.Context {
	t.Helper()
	patience := 2 * time.Minute
	if w.fake != nil {
		patience = 24 * time.Hour // costs nothing
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	t.Cleanup(cancel)
	return ctx
}

// path returns a lock path that no other test uses, nor this one when it runs again on the same server.
func path(t *testing.T) string {
	return "/" + strings.NewReplacer("/", "-", "#", "-").Replace(t.Name()) + "-" + rand.Text()
}

// waitNodes waits until a path has n children, and returns them.
func (w *world) waitNodes(t *testing.T, path string, n int) []string {
	t.Helper()
	ctx := w.patience(t)
	for {
		ok, _, exists, err := w.observer.ExistsW(ctx, path)
		require.NoError(t, err)
		if !ok {
			if n == 0 {
				exists.Stop()
				return nil
			}
			if _, err = exists.Wait(ctx); !errors.Is(err, framework.ErrSessionLost) {
				require.NoError(t, err, "waiting for %d children of %s, which does not exist", n, path)
			}
			continue
		}
		exists.Stop()
		names, _, changed, err := w.observer.ChildrenW(ctx, path)
		if errors.Is(err, zk.ErrNoNode) { // reaped just now
			continue
		}
		require.NoError(t, err)
		if len(names) == n {
			changed.Stop()
			slices.Sort(names)
			return names
		}
		if _, err = changed.Wait(ctx); !errors.Is(err, framework.ErrSessionLost) {
			require.NoError(t, err, "waiting for %d children of %s, which has %v", n, path, names)
		}
	}
}

// nodes returns the children of a path now.
func (w *world) nodes(t *testing.T, path string) []string {
	t.Helper()
	names, _, err := w.observer.Children(w.patience(t), path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	require.NoError(t, err)
	return names
}

// nothingLeft waits until there is no contender and, on the whole server, no watch.
func (w *world) nothingLeft(t *testing.T, path string) {
	t.Helper()
	w.waitNodes(t, path, 0)
	w.noWatches(t)
}

// noWatches waits until there is no watch. It does not wait for long: once in a minute the server removes empty containers,
// and with them the watches that somebody has forgotten there.
func (w *world) noWatches(t *testing.T) {
	t.Helper()
	const bound = 20 * time.Second
	if w.fake == nil {
		require.Eventually(t, func() bool { return w.watches() == 0 }, bound, 10*time.Millisecond)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), bound)
	defer cancel()
	require.NoError(t, w.fake.WaitWatches(ctx, 0, 0), "%v", w.fake.Watches())
}

// requests returns what the clients have asked for since the log was cleared, without pings and handshakes.
func (w *world) requests() []zktest.Op {
	var ops []zktest.Op
	for _, r := range w.fake.Requests() {
		if r.Op != zktest.OpPing && r.Op != zktest.OpConnect {
			ops = append(ops, r.Op)
		}
	}
	return ops
}

// acquire returns a lease, or fails the test.
func acquire(t testing.TB, ctx context.Context, m *recipes.InterProcessMutex) *recipes.Lease {
	t.Helper()
	lease, err := m.Acquire(ctx)
	require.NoError(t, err)
	return lease
}

// pending is an acquire under way.
type pending struct {
	lease *recipes.Lease
	err   error
	done  chan struct{}
}

func acquireLater(ctx context.Context, m *recipes.InterProcessMutex) *pending {
	p := &pending{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.lease, p.err = m.Acquire(ctx)
	}()
	return p
}

func (p *pending) wait(t testing.TB) *recipes.Lease {
	t.Helper()
	<-p.done
	require.NoError(t, p.err)
	return p.lease
}

func (p *pending) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
