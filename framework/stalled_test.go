package framework_test

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// unbufferedDialer is a dialer whose connections have no buffers, so that a
// write waits for its reader, and may stop reading.
type unbufferedDialer struct {
	srv     *zktest.Server
	stalled atomic.Bool
}

func (s *unbufferedDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	to, err := s.srv.Dialer()(ctx, network, address)
	if err != nil {
		return nil, err
	}
	client, from := net.Pipe()
	go func() {
		defer client.Close()
		defer from.Close()
		_, _ = io.Copy(from, to)
	}()
	go func() {
		buf := make([]byte, 1<<10)
		for !s.stalled.Load() {
			n, err := from.Read(buf)
			if _, err2 := to.Write(buf[:n]); err != nil || err2 != nil {
				to.Close()
				return
			}
		}
	}()
	return client, nil
}

// No caller waits for a peer that does not read, beyond its context.
func TestContextEndsAnOperationWhosePeerDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		peer := &unbufferedDialer{srv: srv}
		c := newClient(t, srv, framework.WithDialer(peer.dial))
		_, _, err := c.Get(t.Context(), "/")
		require.NoError(t, err)
		peer.stalled.Store(true)
		_, _, err = c.Get(within(t, 300*time.Millisecond), "/") // its first byte ends the read that is under way
		require.NoError(t, err)
		for range 3 {
			begin := time.Now()
			_, _, err = c.Get(within(t, 300*time.Millisecond), "/")
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, 300*time.Millisecond, time.Since(begin))
		}
	})
}
