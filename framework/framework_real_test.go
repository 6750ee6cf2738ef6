//go:build real

package framework_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/state"
)

// The times of tests in real time, where a process of a busy machine may stand
// still for a second or two. How long the client takes for what it does is
// asserted in virtual time.
const (
	longSession  = time.Minute      // the timeout of sessions that are kept
	shortSession = 12 * time.Second // the timeout of sessions that are going to end by themselves
	stuck        = 4 * time.Minute  // a test that still waits then would do so for ever
)

// shortSessionOptions are the options of a client whose session is going to end
// by itself. Without a safety margin, the client has a third of the timeout,
// the most there can be, between finding a server mute and giving the session
// up.
func shortSessionOptions() []framework.Option {
	return []framework.Option{framework.WithSessionTimeout(shortSession), framework.WithSafetyMargin(0)}
}

// realClient returns a client of a real server.
func realClient(t *testing.T, srv *zkserver.Server, path string, opts ...framework.Option) *framework.Client {
	t.Helper()
	opts = append([]framework.Option{framework.WithSessionTimeout(longSession), framework.WithDialer(dialImpatiently)}, opts...)
	c, err := framework.New(srv.Addr()+path, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.WaitConnected(within(t, stuck)))
	return c
}

// dialImpatiently ends a connection to a server that says nothing at first. A
// standalone server that has just begun to start may never answer the handshake,
// nor close the connection (ZOOKEEPER-5051). A client gives it two thirds of the
// session timeout: too much, if the start has taken a quarter of it.
func dialImpatiently(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &impatientConn{nc, time.AfterFunc(10*time.Second, func() { nc.Close() })}, nil
}

type impatientConn struct {
	net.Conn
	late *time.Timer
}

func (c *impatientConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.late.Stop()
	}
	return n, err
}

func (c *impatientConn) Close() error {
	c.late.Stop()
	return c.Conn.Close()
}

func TestRealServerGivesTheCzxidInTheReply(t *testing.T) {
	t.Parallel()
	srv := sharedServer(t)
	c := realClient(t, srv, chroot(t))
	ctx := within(t, stuck)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 5 {
				n, err := c.Create(ctx, "/n-", nil, framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
				assert.NoError(t, err)
				there, stat, err := c.Exists(ctx, n.Path)
				assert.NoError(t, err)
				assert.True(t, there)
				assert.Equal(t, stat.Czxid, n.Czxid)
			}
		})
	}
	all.Wait()
}

// requireNoWatches waits until a server has noticed that the clients of the
// last test are gone.
func requireNoWatches(t *testing.T, srv *zkserver.Server) {
	t.Helper()
	require.Eventually(t, func() bool {
		n, err := srv.WatchCount(t.Context())
		return err == nil && n == 0
	}, stuck, 10*time.Millisecond)
}

func TestRealServerForgetsWatchesThatAreWithdrawn(t *testing.T) {
	t.Parallel()
	srv := borrowServer(t)
	c := realClient(t, srv, chroot(t))
	ctx := within(t, stuck)
	requireNoWatches(t, srv)
	_, err := c.Create(ctx, "/n", nil)
	require.NoError(t, err)
	var list []*framework.Watch
	for _, set := range watchKinds(c) {
		w, err := set(ctx, "/n")
		require.NoError(t, err)
		list = append(list, w)
	}
	_, _, w, err := c.ExistsW(ctx, "/missing")
	require.NoError(t, err)
	list = append(list, w)
	n, err := srv.WatchCount(ctx)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	for _, w := range list {
		w.Stop()
	}
	require.NoError(t, c.Sync(ctx, "/")) // the withdrawals went before it
	n, err = srv.WatchCount(ctx)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestRealServerRestartKeepsSessionAndWatches(t *testing.T) {
	t.Parallel()
	srv := borrowServer(t)
	c := realClient(t, srv, chroot(t))
	ctx := within(t, stuck)
	n, err := c.Create(ctx, "/n", nil, framework.WithMode(framework.Ephemeral))
	require.NoError(t, err)
	_, _, w, err := c.GetW(ctx, "/n")
	require.NoError(t, err)
	seq := c.States(ctx)
	require.NoError(t, srv.Restart())
	var seen []state.State
	for s := range seq {
		if seen = append(seen, s); s.IsConnected() {
			break
		}
	}
	require.Equal(t, []state.State{state.Suspended, state.Reconnected}, seen)
	require.Equal(t, n.Session.ID(), c.SessionID())
	select {
	case <-w.Done():
		require.Fail(t, "the watch has fired for nothing")
	default:
	}
	_, err = c.Set(ctx, "/n", []byte("x"), 0)
	require.NoError(t, err)
	ev, err := w.Wait(ctx)
	require.NoError(t, err)
	require.Equal(t, zk.EventNodeDataChanged, ev.Type)
}

// requireLost waits until a session ends by itself, which is due after a time.
func requireLost(t *testing.T, s *framework.Session, due time.Duration) {
	t.Helper()
	select {
	case <-s.Context().Done():
	case <-time.After(due + 20*time.Second):
		require.Fail(t, "the session does not end")
	}
	require.ErrorIs(t, context.Cause(s.Context()), framework.ErrSessionLost)
}
