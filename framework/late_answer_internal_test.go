package framework

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/testing/zktest"
)

// lingeringConn is a connection whose end takes a while, as the end of a TLS connection
// may.
type lingeringConn struct {
	net.Conn
	mayEnd <-chan struct{}
}

func (c lingeringConn) Close() error {
	<-c.mayEnd
	return c.Conn.Close()
}

// A session is lost, the next one has begun, and then an answer arrives over the
// old connection. The caller does not get it: the next session does not know of
// as much, and could read what is older.
//
// Promise: A reply of the former session that arrives in the next session reaches no caller.
func TestAnswerBehindTheBeginOfTheNextSessionIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		mayEnd := make(chan struct{})
		var dialed atomic.Int32
		c, err := New(srv.Addr(), WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			nc, err := srv.Dialer()(ctx, network, address)
			if dialed.Add(1) == 1 && err == nil {
				nc = lingeringConn{nc, mayEnd}
			}
			return nc, err
		}))
		require.NoError(t, err)
		defer c.Close()
		defer close(mayEnd)
		s, err := c.Session(t.Context())
		require.NoError(t, err)

		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayRequest(time.Second)})
		p := newPending(s, proto.GetData("/", false))
		require.NoError(t, start(t.Context(), s, &p.Call))
		s.end(errTimeUp)
		require.NoError(t, c.WaitConnected(t.Context()))
		require.NotSame(t, s, c.session)
		require.NoError(t, srv.Create("/n", nil)) // the answer is of later than the next session
		time.Sleep(2 * time.Second)
		_, err = p.await(t.Context(), nil)
		require.ErrorIs(t, err, ErrSessionLost)
		require.Less(t, s.link.LastZxid(), srv.Stats().Zxid)
	})
}
