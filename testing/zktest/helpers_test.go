package zktest_test

import (
	"context"
	"math"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// client is go-zookeeper's connection with what it reported, in order.
type client struct {
	*zk.Conn

	mu     sync.Mutex
	events []zk.Event
	change chan struct{} // closed when an event is appended
}

// silent keeps go-zookeeper's log out of the tests.
type silent struct{}

func (silent) Printf(string, ...any) {}

// connect returns a client with a session over the in-memory network. It is
// closed, and all of its goroutines have ended, before the server's own cleanup
// runs.
func connect(t *testing.T, srv *zktest.Server, timeout time.Duration) *client {
	t.Helper()
	return connectVia(t, srv, zkDialer(srv.Dialer()), timeout)
}

// zkDialer gives a dialer the form that go-zookeeper takes.
func zkDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) zk.Dialer {
	return func(network, address string, _ time.Duration) (net.Conn, error) {
		return dial(context.Background(), network, address)
	}
}

func connectVia(t *testing.T, srv *zktest.Server, dial zk.Dialer, timeout time.Duration) *client {
	t.Helper()
	c := &client{change: make(chan struct{})}
	conn, events, err := zk.Connect([]string{srv.Addr()}, timeout,
		zk.WithDialer(dial), zk.WithLogger(silent{}), zk.WithEventCallback(c.record))
	require.NoError(t, err)
	c.Conn = conn
	t.Cleanup(func() {
		conn.Close()
		for range events { // closed when the last goroutine of the client ends
		}
	})
	c.await(t, zk.StateHasSession)
	return c
}

func (c *client) record(e zk.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, e)
	close(c.change)
	c.change = make(chan struct{})
}

// await returns when a session event with the state has been reported since the
// last call that returned.
func (c *client) await(t *testing.T, state zk.State) {
	t.Helper()
	deadline := time.After(time.Hour)
	for {
		c.mu.Lock()
		i := slices.IndexFunc(c.events, func(e zk.Event) bool {
			return e.Type == zk.EventSession && e.State == state
		})
		if i >= 0 {
			c.events = c.events[i+1:]
			c.mu.Unlock()
			return
		}
		change := c.change
		c.mu.Unlock()
		select {
		case <-change:
		case <-deadline:
			require.Fail(t, "no event", "state %v", state)
		}
	}
}

var open = zk.WorldACL(zk.PermAll)

// session returns the only session of the server.
func session(t *testing.T, srv *zktest.Server) zktest.SessionInfo {
	t.Helper()
	require.Len(t, srv.Sessions(), 1)
	return srv.Sessions()[0]
}

// bubble runs a test of one server and one go-zookeeper client in virtual time,
// with a session of 9 s: pings go out every 3 s, and 6 s of silence are too
// much.
func bubble(t *testing.T, test func(t *testing.T, srv *zktest.Server, c *client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		test(t, srv, connect(t, srv, 9*time.Second))
	})
}

// awaitLeader waits until a member leads with a majority, and returns it.
func awaitLeader(t *testing.T, ens *zktest.Ensemble) *zktest.Member {
	t.Helper()
	require.NoError(t, ens.WaitFor(t.Context(), func() bool { return ens.Leader() != nil }))
	return ens.Leader()
}

// forever is a lag that does not end by itself.
const forever time.Duration = math.MaxInt64
