// Package recipetest has the helpers that the tests of several recipes share: fake and
// real servers, and clients with a network that tests can break.
package recipetest

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// World is the setting of a scenario: a server, in virtual or in real time.
type World struct {
	Addr    string
	Dial    framework.DialFunc
	Session time.Duration // the session timeout of clients
	Stop    func()        // stops the server, which keeps its data
	Start   func()
	Watches func() int // returns the number of watches on the server
	Fake    *zktest.Server

	Observer *framework.Client // a client that only observes the scenario
}

// OnFakeAndReal runs a scenario on zktest in virtual time, and with the build tag
// real on real ZooKeeper as well. The test is parallel from here on.
func OnFakeAndReal(t *testing.T, scenario func(t *testing.T, w *World)) {
	t.Helper()
	t.Parallel()
	t.Run("virtual", func(t *testing.T) { InVirtualTime(t, scenario) })
	onReal(t, scenario)
}

// InVirtualTime runs a scenario on zktest in virtual time.
func InVirtualTime(t *testing.T, scenario func(t *testing.T, w *World), opts ...zktest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t, opts...)
		w := &World{
			Addr:    srv.Addr(),
			Dial:    srv.Dialer(),
			Session: 9 * time.Second,
			Stop:    func() { require.NoError(t, srv.Stop()) },
			Start:   func() { require.NoError(t, srv.Restart()) },
			Watches: func() int { return len(srv.Watches()) },
			Fake:    srv,
		}
		w.Observer, _ = w.Connect(t)
		scenario(t, w)
	})
}

// LongSession is the session timeout of clients that must keep their session, whatever
// happens to servers.
const LongSession = 20 * time.Second

// ShortSession is the session timeout of clients whose session is meant to end
// by itself.
const ShortSession = 3 * time.Second

// ShortLived returns the options of a client with a ShortSession. In real time, the
// client gives up its session long before the server does, so the order does not depend
// on the scheduler of a busy machine.
func (w *World) ShortLived(opts ...framework.Option) []framework.Option {
	opts = append(opts, framework.WithSessionTimeout(ShortSession))
	if w.Fake == nil {
		opts = append(opts, framework.WithSafetyMargin(0.5))
	}
	return opts
}

// Connect returns a client, closed at the end of the test, and its Network.
func (w *World) Connect(t *testing.T, opts ...framework.Option) (*framework.Client, *Network) {
	t.Helper()
	network := &Network{dial: w.Dial}
	c, err := framework.New(w.Addr, append([]framework.Option{
		framework.WithDialer(network.Dial),
		framework.WithSessionTimeout(w.Session),
	}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.WaitConnected(w.Patience(t)))
	return c, network
}

// Patience returns a context that lasts longer than any wait of a scenario.
func (w *World) Patience(t testing.TB) context.Context {
	t.Helper()
	patience := 2 * time.Minute
	if w.Fake != nil {
		patience = 4 * time.Hour // of virtual time, in which pings alone take CPU
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	t.Cleanup(cancel)
	return ctx
}

// Path returns a lock path that no other test uses. A second run of this test
// on the same server gets another path.
func Path(t *testing.T) string {
	return "/" + strings.NewReplacer("/", "-", "#", "-").Replace(t.Name()) + "-" + rand.Text()
}

// WaitNodes waits until a path has n children, and returns them.
func (w *World) WaitNodes(t *testing.T, path string, n int) []string {
	t.Helper()
	ctx := w.Patience(t)
	for {
		ok, _, exists, err := w.Observer.ExistsW(ctx, path)
		require.NoError(t, err)
		if !ok {
			if n == 0 {
				exists.Stop()
				return nil
			}
			if _, err = exists.Wait(ctx); !reason.Is(err, framework.ErrSessionLost) {
				require.NoError(t, err, "waiting for %d children of %s, which does not exist", n, path)
			}
			continue
		}
		exists.Stop()
		names, _, changed, err := w.Observer.ChildrenW(ctx, path)
		if reason.Is(err, zk.ErrNoNode) { // the server has just removed the empty container
			continue
		}
		require.NoError(t, err)
		if len(names) == n {
			changed.Stop()
			slices.Sort(names)
			return names
		}
		if _, err = changed.Wait(ctx); !reason.Is(err, framework.ErrSessionLost) {
			require.NoError(t, err, "waiting for %d children of %s, which has %v", n, path, names)
		}
	}
}

// Nodes returns the children of a path now.
func (w *World) Nodes(t *testing.T, path string) []string {
	t.Helper()
	names, _, err := w.Observer.Children(w.Patience(t), path)
	if reason.Is(err, zk.ErrNoNode) {
		return nil
	}
	require.NoError(t, err)
	return names
}

// NothingLeft waits until the path has no contender and the whole server has no watch.
func (w *World) NothingLeft(t *testing.T, path string) {
	t.Helper()
	w.WaitNodes(t, path, 0)
	w.NoWatches(t)
}

// NoWatches waits until there is no watch. It waits only briefly: once a minute the
// server removes empty containers, and with them any watches that a recipe has
// forgotten there.
func (w *World) NoWatches(t *testing.T) {
	t.Helper()
	const bound = 20 * time.Second
	if w.Fake == nil {
		require.Eventually(t, func() bool { return w.Watches() == 0 }, bound, 10*time.Millisecond)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), bound)
	defer cancel()
	require.NoError(t, w.Fake.WaitFor(ctx, func() bool { return len(w.Fake.Watches()) == 0 }), "%v", w.Fake.Watches())
}

// Requests returns the requests of the clients since the log was cleared,
// without pings and handshakes.
func (w *World) Requests() []zktest.Op {
	var ops []zktest.Op
	for _, r := range w.Fake.Requests() {
		if r.Op != zkinside.OpPing && r.Op != zktest.OpConnect {
			ops = append(ops, r.Op)
		}
	}
	return ops
}
