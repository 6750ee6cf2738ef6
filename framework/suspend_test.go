package framework_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// onAMachine returns a client on a machine that can sleep: its clock and its timers
// stand still then, and the server's do not.
func onAMachine(t *testing.T, srv *zktest.Server) (*framework.Client, *zktest.Host) {
	t.Helper()
	machine := srv.NewHost()
	clock := insider.WithSuspendClock(zkinside.Suspended(machine)).(framework.Option)
	return newClient(t, srv, framework.WithDialer(machine.Dialer()), clock), machine
}

// suspend makes a machine sleep.
func suspend(t *testing.T, machine *zktest.Host, d time.Duration) {
	t.Helper()
	require.NoError(t, machine.Suspend(d))
}

// The machine sleeps, and finds no server when it wakes up.
func TestSessionEndsWithinASecondOfWaking(t *testing.T) {
	for _, slept := range []time.Duration{8 * time.Second, 9 * time.Second, time.Hour} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			c, machine := onAMachine(t, srv)
			n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
			time.Sleep(200 * time.Millisecond)
			srv.BlackholeAll()
			suspend(t, machine, slept)
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
		c, machine := onAMachine(t, srv)
		n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		srv.BlackholeAll()
		require.True(t, n.Session.IsInTime())
		suspend(t, machine, 2*time.Second)
		require.True(t, n.Session.IsInTime())
		suspend(t, machine, time.Hour)
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
		c, machine := onAMachine(t, srv)
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		for range 50 {
			suspend(t, machine, 3*time.Second)
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
		c, machine := onAMachine(t, srv)
		n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		time.Sleep(time.Second)
		sent := time.Now()
		srv.Inject(zktest.Rule{Op: zktest.OpSync, Do: zktest.DelayReply(1500 * time.Millisecond)})
		go c.Sync(t.Context(), "/")
		time.Sleep(time.Millisecond)
		suspend(t, machine, 5*time.Second)
		time.Sleep(1200 * time.Millisecond) // so that it is noticed
		srv.Inject(zktest.Rule{Op: zkinside.OpPing, Times: -1, Do: zktest.DelayReply(time.Hour)})
		<-n.Session.Context().Done()
		require.Equal(t, trusted-5*time.Second, time.Since(sent))
	})
}

// A server that takes the session back after the sleep knows that it lives.
func TestReturnToTheServerAfterASuspensionCounts(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		machine := srv.NewHost()
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			time.Sleep(time.Millisecond)
			return machine.Dialer()(ctx, network, address)
		}
		c := newClient(t, srv, framework.WithDialer(dial), insider.WithSuspendClock(zkinside.Suspended(machine)).(framework.Option))
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		time.Sleep(100 * time.Millisecond)
		suspend(t, machine, sessionTimeout-500*time.Millisecond)
		srv.CutAll()
		time.Sleep(time.Minute)
		require.NoError(t, s.Context().Err())
	})
}

// The machine sleeps while the client connects, before it has sent anything. The
// session that it gets then is as good as any other.
func TestSessionBegunAfterASleepDuringTheDialLives(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		machine := srv.NewHost()
		var once sync.Once
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			once.Do(func() { suspend(t, machine, time.Hour) })
			return machine.Dialer()(ctx, network, address)
		}
		c := newClient(t, srv, framework.WithDialer(dial), insider.WithSuspendClock(zkinside.Suspended(machine)).(framework.Option))
		_, err := c.Session(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Minute)
		require.Equal(t, 1, srv.CountRequests(zktest.OpConnect), "there is one session")
	})
}
