package framework_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// unobserved runs a test in virtual time with a client that has not connected
// yet, so that its whole history is seen.
func unobserved(t *testing.T, test func(t *testing.T, srv *zktest.Server, c *framework.Client, h *history)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zktest.OpConnect, Do: zktest.DelayRequest(time.Millisecond)})
		c := newClient(t, srv)
		h := observe(t, c)
		require.NoError(t, c.WaitConnected(t.Context()))
		test(t, srv, c, h)
	})
}

// Promise: A short outage keeps the session.
func TestShortOutageKeepsTheSession(t *testing.T) {
	unobserved(t, func(t *testing.T, srv *zktest.Server, c *framework.Client, h *history) {
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		outage(srv, time.Second)
		time.Sleep(time.Minute)
		require.Equal(t, []state.State{state.Connected, state.Suspended, state.Reconnected}, h.seen())
		require.Equal(t, s.ID(), c.SessionID())
		require.NoError(t, s.Context().Err())
	})
}

func TestLongOutageLosesTheSession(t *testing.T) {
	unobserved(t, func(t *testing.T, srv *zktest.Server, c *framework.Client, h *history) {
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		begin := time.Now()
		outage(srv, time.Minute)
		time.Sleep(time.Minute)
		require.Equal(t, []state.State{state.Connected, state.Suspended, state.Lost, state.Reconnected}, h.seen())
		require.Less(t, h.when(2).Sub(begin), sessionTimeout)
		require.NotEqual(t, s.ID(), c.SessionID())
		require.ErrorIs(t, context.Cause(s.Context()), framework.ErrSessionLost)
	})
}

// Curator's TestEnabledSessionExpiredState calls it testResetCausesLost:
// RECONNECTED with another session is preceded by LOST, although the server has
// never said so.
func TestSilentlyReplacedSessionIsLostBeforeReconnected(t *testing.T) {
	unobserved(t, func(t *testing.T, srv *zktest.Server, c *framework.Client, h *history) {
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		zkinside.Of(srv).ReplaceSession(s.ID())
		srv.CutAll()
		time.Sleep(time.Minute)
		require.Equal(t, []state.State{state.Connected, state.Suspended, state.Lost, state.Reconnected}, h.seen())
		require.NotEqual(t, s.ID(), c.SessionID())
		require.ErrorIs(t, context.Cause(s.Context()), framework.ErrSessionLost)
	})
}

func TestNeverConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.RefuseConnections(true)
		begin := time.Now()
		dial := srv.Dialer()
		c := newClient(t, srv, framework.WithDialer(delayedDial(dial, time.Millisecond)))
		h := observe(t, c)
		require.Equal(t, state.Initial, c.State())
		time.Sleep(time.Hour)
		require.Equal(t, []state.State{state.Suspended, state.Lost}, h.seen())
		require.Equal(t, sessionTimeout, h.when(1).Sub(begin))
		require.Zero(t, c.SessionID())

		srv.RefuseConnections(false)
		time.Sleep(time.Minute)
		require.Equal(t, []state.State{state.Suspended, state.Lost, state.Connected}, h.seen())
	})
}

func delayedDial(dial framework.DialFunc, d time.Duration) framework.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		select {
		case <-time.After(d):
			return dial(ctx, network, address)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func TestSlowReadersMissNothingAndDelayNobody(t *testing.T) {
	unobserved(t, func(t *testing.T, srv *zktest.Server, c *framework.Client, h *history) {
		var slow [2][]state.State
		var readers sync.WaitGroup
		ctx := within(t, 24*time.Hour)
		for i := range slow {
			seq := c.States(ctx)
			readers.Go(func() {
				for s := range seq {
					time.Sleep(time.Duration(i+1) * 5 * time.Minute)
					if slow[i] = append(slow[i], s); len(slow[i]) == 6 {
						return
					}
				}
			})
		}
		begin := time.Now()
		for range 3 {
			outage(srv, time.Second)
			time.Sleep(10 * time.Second)
		}
		require.Len(t, h.seen(), 1+6)
		require.Less(t, h.when(6).Sub(begin), time.Minute)
		readers.Wait()
		require.Equal(t, h.seen()[1:], slow[0])
		require.Equal(t, h.seen()[1:], slow[1])
	})
}

func TestStatesBeginWithTheCallAndNotWithTheLoop(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		seq := c.States(within(t, time.Hour))
		outage(srv, time.Second)
		time.Sleep(time.Minute)
		var seen []state.State
		for s := range seq {
			if seen = append(seen, s); len(seen) == 2 {
				break
			}
		}
		require.Equal(t, []state.State{state.Suspended, state.Reconnected}, seen)
	})
}

func TestCloseEndsStatesAndIsNoState(t *testing.T) {
	unobserved(t, func(t *testing.T, _ *zktest.Server, c *framework.Client, h *history) {
		ended := make(chan []state.State)
		seq := c.States(t.Context())
		go func() {
			var seen []state.State
			for s := range seq {
				seen = append(seen, s)
			}
			ended <- seen
		}()
		synctest.Wait()
		require.NoError(t, c.Close())
		require.Empty(t, <-ended)
		require.Equal(t, []state.State{state.Connected}, h.seen())
	})
}

// CURATOR-218: own state is updated before anybody is told.
func TestStateIsUpToDateWhenAListenerHears(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		seq := c.States(within(t, time.Hour))
		srv.RefuseConnections(true)
		go srv.CutAll()
		n := 0
		for told := range seq {
			require.Equal(t, told, c.State())
			switch n++; told {
			case state.Suspended:
				require.NoError(t, s.Context().Err())
				require.ErrorIs(t, context.Cause(s.Trusted(state.StandardPolicy)), framework.ErrSuspended)
			case state.Lost:
				require.Error(t, s.Context().Err())
				srv.RefuseConnections(false)
			case state.Reconnected:
				require.NoError(t, c.WaitConnected(within(t, time.Nanosecond)))
				require.Equal(t, 3, n)
				return
			}
		}
	})
}

func TestTrustedFollowsThePolicy(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		standard, session := s.Trusted(state.StandardPolicy), s.Trusted(state.SessionPolicy)
		outage(srv, time.Second)
		time.Sleep(time.Minute)
		require.ErrorIs(t, context.Cause(standard), framework.ErrSuspended)
		require.NoError(t, session.Err())
		require.NoError(t, s.Trusted(state.StandardPolicy).Err(), "a new one after the reconnect is good again")

		again := s.Trusted(state.StandardPolicy)
		srv.Session(s.ID()).Expire()
		time.Sleep(time.Minute)
		require.Error(t, again.Err())
		require.ErrorIs(t, context.Cause(session), framework.ErrSessionLost)
	})
}

// A client must not spin when a server takes it in and throws it out again at
// once: in a bubble, a loop without a pause would stop time.
func TestServerThatDropsEveryConnectionAfterTheHandshakeIsNotHammered(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		_, _, _, err := c.GetW(t.Context(), "/n")
		require.NoError(t, err)
		srv.ClearRequests()
		drop := srv.Inject(zktest.Rule{Op: zkinside.OpSetWatches, Times: -1, Do: zktest.DropRequest()})
		srv.CutAll()
		time.Sleep(6 * time.Second)
		require.Less(t, srv.CountRequests(zktest.OpConnect), 100)
		drop.Remove()
		time.Sleep(time.Minute)
		require.True(t, c.State().IsConnected())
	})
}
