package framework_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// The holder of an ephemeral node must stop before the server deletes it.
//
// These tests were checked against mutants of Session.timeLeft and of the transport's
// clock: counting from SUSPENDED (ten fail), counting from the reply's arrival
// (two), counting requests that are not answered (eight), and no margin (ten).

// loss is when the two sides gave a session up, and what each knew of the
// other.
type loss struct {
	contextEnd  time.Time // the client's
	nodeDeleted time.Time // the server's
	lastAnswer  time.Time // when the last request that was answered had been sent
}

// loseSession makes an ephemeral node, waits for after, applies the fault, and
// observes both ends. The fault returns when the last request that will be
// answered was sent.
func loseSession(t *testing.T, after time.Duration, fault func(srv *zktest.Server, s *framework.Session) time.Time) loss {
	t.Helper()
	var l loss
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := newClient(t, srv)
		n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		deleted := make(chan time.Time, 1)
		go func() {
			if srv.WaitFor(t.Context(), func() bool { _, ok := srv.Node("/e"); return !ok }) == nil {
				deleted <- time.Now()
			}
		}()
		time.Sleep(after)
		l.lastAnswer = fault(srv, n.Session)
		<-n.Session.Context().Done()
		l.contextEnd = time.Now()
		require.ErrorIs(t, context.Cause(n.Session.Context()), framework.ErrSessionLost)
		require.False(t, c.State().IsConnected())
		l.nodeDeleted = <-deleted
	})
	return l
}

// lastRequest returns when the server got the session's last request so far.
// Without a delay it was sent then.
func lastRequest(srv *zktest.Server, s *framework.Session) time.Time {
	synctest.Wait()
	all := srv.Requests()
	return all[len(all)-1].Time
}

// Promise: A partitioned client gives its session up before the servers delete its nodes.
func TestSessionEndsBeforeTheServerDeletesItsNodesInASilentPartition(t *testing.T) {
	for offset := time.Duration(0); offset <= 2*pingInterval; offset += pingInterval / 12 {
		l := loseSession(t, offset, func(srv *zktest.Server, s *framework.Session) time.Time {
			last := lastRequest(srv, s)
			srv.BlackholeAll()
			return last
		})
		require.Equal(t, trusted, l.contextEnd.Sub(l.lastAnswer), "partition after %v", offset)
		require.Equal(t, sessionTimeout, l.nodeDeleted.Sub(l.lastAnswer), "partition after %v", offset)
		require.True(t, l.contextEnd.Before(l.nodeDeleted), "partition after %v", offset)
	}
}

// retimedConn changes the timeout that the server grants.
type retimedConn struct {
	net.Conn
	millis uint32
	read   int
}

func (c *retimedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for i := range n {
		if at := c.read + i; at >= 8 && at < 12 {
			p[i] = byte(c.millis >> (8 * (11 - at)))
		}
	}
	c.read += n
	return n, err
}

// The server grants less when the session is taken up again, and then hangs in
// authentication.
func TestShorterTimeoutCountsBeforeAuthenticationIsOver(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var millis atomic.Uint32
		millis.Store(60_000)
		c := newClient(t, srv, alice, framework.WithSessionTimeout(time.Minute),
			framework.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
				nc, err := srv.Dialer()(ctx, network, addr)
				if err != nil {
					return nil, err
				}
				return &retimedConn{Conn: nc, millis: millis.Load()}, nil
			}))
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Minute)
		millis.Store(4000)
		srv.Inject(zktest.Rule{Op: zkinside.OpAuth, Do: zktest.Blackhole()})
		srv.RefuseConnections(true)
		srv.CutAll()
		synctest.Wait()
		srv.RefuseConnections(false)
		begin := time.Now()
		<-s.Context().Done()
		require.LessOrEqual(t, time.Since(begin), 5*time.Second) // a second for the pause before the attempt
	})
}

// The replies come later and later, so that the time runs out although the
// connection has never been mute for long. The client could end the session on
// the server now, and with it give away the nodes of holders that have only
// just been told to stop. It must leave them what is left of the timeout.
func TestLostSessionIsLeftToTheServerEvenIfThatCanBeReached(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		old := c.SessionID()
		h := observe(t, c)
		for i, lag := range []time.Duration{0, 2500, 5000, 5500, 5500} {
			srv.Inject(zktest.Rule{Optional: true, Op: zkinside.OpPing, Session: old, After: i, Do: zktest.DelayReply(lag * time.Millisecond)})
		}
		begin := time.Now()
		require.NoError(t, srv.WaitFor(t.Context(), func() bool { _, ok := srv.Node("/e"); return !ok }))
		require.Equal(t, []state.State{state.Lost, state.Reconnected}, h.seen())
		require.Equal(t, 3*pingInterval+trusted, h.when(0).Sub(begin), "no reply since that to the third ping")
		require.Equal(t, 5*pingInterval+sessionTimeout, time.Since(begin), "counted from the fifth ping")
		require.Zero(t, srv.CountRequests(zkinside.OpCloseSession))
		require.NotEqual(t, old, c.SessionID())
	})
}

func TestSessionContextEndsWithClose(t *testing.T) {
	bubble(t, func(t *testing.T, _ *zktest.Server, c *framework.Client) {
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		standard := s.Trusted(state.StandardPolicy)
		require.NoError(t, c.Close())
		require.ErrorIs(t, context.Cause(s.Context()), framework.ErrClosed)
		require.ErrorIs(t, context.Cause(standard), framework.ErrClosed)
	})
}
