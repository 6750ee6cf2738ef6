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
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

func TestCallerThatGivesUpLeavesNoWatch(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Do: zktest.DelayReply(2 * time.Second)})
		_, err := c.NewWatcher(within(t, time.Second), "/n")
		require.Error(t, err)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Empty(t, srv.Watches())
		require.Zero(t, insider.Of(c).Watches())
	})
}

func TestReaderIsNotCaughtUpWhileThereIsSomethingToRead(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		w := mustWatch(t, c, "/n")
		mustCreate(t, c, "/n", "")
		_, ok := w.CaughtUp()
		require.False(t, ok, "the event came before the answer")
		require.Equal(t, []string{"created /n"}, unread(t, w))
		zxid, ok := w.CaughtUp()
		require.True(t, ok)
		require.Equal(t, srv.Stats().Zxid, zxid)
	})
}

// slowReader is a connection whose reader gets what it has read only when its
// gate is open, as if its thread had got no processor before.
type slowReader struct {
	net.Conn
	gate <-chan struct{}
}

func (r slowReader) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	<-r.gate
	return n, err
}

// A session is lost while its handshake with a server is under way, and the
// handshake ends when the next session is connected. The watches are the next
// session's by then, and stay so.
//
// Promise: A late handshake of a lost session takes no watch away.
func TestLateHandshakeOfALostSessionTakesNoWatchAway(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		gate := make(chan struct{})
		var slow atomic.Bool
		c := newClient(t, srv, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			nc, err := srv.Dialer()(ctx, network, address)
			if err != nil || !slow.Load() {
				return nc, err
			}
			return slowReader{nc, gate}, nil
		}))
		w := mustWatch(t, c, "/n")
		lost, err := c.Session(t.Context())
		require.NoError(t, err)

		slow.Store(true)
		srv.CutAll()
		time.Sleep(time.Second)
		slow.Store(false)
		<-lost.Context().Done()
		require.NoError(t, c.WaitConnected(within(t, time.Minute)))
		require.Equal(t, []string{"reset /n"}, unread(t, w))
		close(gate)
		synctest.Wait()

		require.NoError(t, srv.Create("/n", nil))
		require.Equal(t, []string{"created /n"}, unread(t, w))
		another, err := c.NewWatcher(within(t, time.Minute), "/m")
		require.NoError(t, err)
		another.Close()
	})
}
