package framework_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/testing/zktest"
)

// suspendClock is for how long the machine of a client has been suspended.
type suspendClock struct{ nanos atomic.Int64 }

func (s *suspendClock) option() framework.Option {
	return insider.WithSuspendClock(func() time.Duration { return time.Duration(s.nanos.Load()) }).(framework.Option)
}

// suspend is what a suspension looks like to a client: its clock and its timers
// have stood still, and the server's have not.
func (s *suspendClock) suspend(srv *zktest.Server, d time.Duration) {
	s.nanos.Add(int64(d))
	srv.JumpClock(d)
}

// The machine sleeps, and finds no server when it wakes up.
func TestSessionEndsWithinASecondOfWaking(t *testing.T) {
	for _, slept := range []time.Duration{8 * time.Second, 9 * time.Second, time.Hour} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			var machine suspendClock
			c := newClient(t, srv, machine.option())
			n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
			time.Sleep(200 * time.Millisecond)
			srv.BlackholeAll()
			machine.suspend(srv, slept)
			woken := time.Now()
			<-n.Session.Context().Done()
			require.ErrorIs(t, context.Cause(n.Session.Context()), framework.ErrSessionLost)
			require.LessOrEqual(t, time.Since(woken), time.Second)
		})
	}
}

// Whoever asks is told at once, before the context has ended.
func TestSessionIsNotInTimeAfterASleep(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var machine suspendClock
		c := newClient(t, srv, machine.option())
		n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		srv.BlackholeAll()
		require.True(t, n.Session.IsInTime())
		machine.suspend(srv, 2*time.Second)
		require.True(t, n.Session.IsInTime())
		machine.suspend(srv, time.Hour)
		require.NoError(t, n.Session.Context().Err())
		require.False(t, n.Session.IsInTime())
		<-n.Session.Context().Done()
		require.False(t, n.Session.IsInTime())
	})
}

// A request that was sent after waking counts in full. Suspensions that the
// session survives do not add up.
func TestSessionLivesOnAfterShortSuspensions(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var machine suspendClock
		c := newClient(t, srv, machine.option())
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		for range 50 {
			machine.suspend(srv, 3*time.Second)
			time.Sleep(10 * time.Second)
		}
		require.NoError(t, s.Context().Err())
		last := lastRequest(srv, s)
		srv.BlackholeAll()
		<-s.Context().Done()
		require.Equal(t, trusted, time.Since(last))
	})
}

// A request that was sent before the sleep proves nothing for the time after
// it, whenever its answer is read.
func TestAnswerToARequestFromBeforeTheSuspensionIsOld(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var machine suspendClock
		c := newClient(t, srv, machine.option())
		n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		time.Sleep(time.Second)
		sent := time.Now()
		srv.Inject(zktest.Rule{Op: zktest.OpSync, Do: zktest.DelayReply(1500 * time.Millisecond)})
		go c.Sync(t.Context(), "/")
		time.Sleep(time.Millisecond)
		machine.suspend(srv, 5*time.Second)
		time.Sleep(1200 * time.Millisecond) // so that it is noticed
		srv.Inject(zktest.Rule{Op: zktest.OpPing, Times: -1, Do: zktest.DelayReply(time.Hour)})
		<-n.Session.Context().Done()
		require.Equal(t, trusted-5*time.Second, time.Since(sent))
	})
}

// slowDialer is a dialer whose connections take a while to make.
func slowDialer(srv *zktest.Server) framework.Option {
	return framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		time.Sleep(time.Millisecond)
		return srv.Dialer()(ctx, network, address)
	})
}

// A server that takes the session back after the sleep knows that it lives.
func TestReturnToTheServerAfterASuspensionCounts(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var machine suspendClock
		c := newClient(t, srv, machine.option(), slowDialer(srv))
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		time.Sleep(100 * time.Millisecond)
		machine.suspend(srv, sessionTimeout-500*time.Millisecond)
		srv.CutAll()
		time.Sleep(time.Minute)
		require.NoError(t, s.Context().Err())
	})
}
