package framework_test

import (
	"context"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// retimed makes every server grant this many milliseconds.
func retimed(srv *zktest.Server, millis uint32) framework.Option {
	return framework.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := srv.Dialer()(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &retimedConn{Conn: nc, millis: millis}, nil
	})
}

// losing makes a server lose every session as soon as it has granted it.
func losing(srv *zktest.Server) {
	srv.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: zktest.CallAfter(func(r zktest.Request) {
		time.AfterFunc(time.Millisecond, func() { srv.Session(r.Session).Expire() })
	})})
}

// A client that is told again and again that its session is over must not ask
// for the next one as fast as it can.
func TestServerThatLosesEverySessionIsAskedMoreAndMoreSeldom(t *testing.T) {
	for name, storm := range map[string]func(*testing.T, *zktest.Server) framework.Option{
		"the server loses them": func(_ *testing.T, srv *zktest.Server) framework.Option {
			losing(srv)
			return framework.WithDialer(srv.Dialer())
		},
		"a balancer between two ensembles": func(t *testing.T, srv *zktest.Server) framework.Option {
			other, last := zktest.Start(t), 0
			for _, s := range []*zktest.Server{srv, other} {
				s.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: zktest.CallAfter(func(r zktest.Request) {
					time.AfterFunc(time.Millisecond, s.CutAll)
				})})
			}
			return framework.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
				last++
				return []*zktest.Server{srv, other}[last%2].Dialer()(ctx, network, addr)
			})
		},
		"the server grants a millisecond":   func(_ *testing.T, srv *zktest.Server) framework.Option { return retimed(srv, 1) },
		"the server grants 99 milliseconds": func(_ *testing.T, srv *zktest.Server) framework.Option { return retimed(srv, 99) },
		"the server cuts every connection": func(_ *testing.T, srv *zktest.Server) framework.Option {
			cutting(srv)
			return framework.WithDialer(srv.Dialer())
		},
		"the server rejects every new session": func(_ *testing.T, srv *zktest.Server) framework.Option {
			srv.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: zktest.Fail(zktest.ErrSessionExpired)})
			return framework.WithDialer(srv.Dialer())
		},
		"the server has another session each time": func(_ *testing.T, srv *zktest.Server) framework.Option {
			replacing(srv)
			return framework.WithDialer(srv.Dialer())
		},
	} {
		t.Run(name, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				newClient(t, srv, storm(t, srv))
				var before, after runtime.MemStats
				all := 0
				for minute := range 10 {
					srv.ClearRequests()
					runtime.ReadMemStats(&before)
					time.Sleep(time.Minute)
					runtime.ReadMemStats(&after)
					attempts := srv.CountRequests(zktest.OpConnect)
					all += attempts
					// The pauses grow to a second, more or less by half. So a minute
					// has 60 attempts, give or take two: the standard deviation.
					require.LessOrEqual(t, attempts, 80, "minute %d", minute)
					require.Positive(t, attempts, "minute %d", minute)
					require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(40<<20), "minute %d, %d attempts", minute, attempts)
				}
				require.LessOrEqual(t, all, 650)
			})
		})
	}
}

func cutting(srv *zktest.Server) {
	srv.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: zktest.CallAfter(func(zktest.Request) {
		time.AfterFunc(time.Millisecond, srv.CutAll)
	})})
}

// replacing makes a server answer every return with another session.
func replacing(srv *zktest.Server) {
	srv.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: zktest.CallAfter(func(r zktest.Request) {
		time.AfterFunc(time.Millisecond, func() { srv.Session(r.Session).Replace(); srv.CutAll() })
	})})
}

// Sessions that are lost now and then are followed by the next one at once.
func TestSessionThatHasLivedIsFollowedByTheNextAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for range 20 {
			time.Sleep(2 * time.Second)
			srv.Session(c.SessionID()).Expire()
			synctest.Wait()
			require.True(t, c.State().IsConnected())
		}
	})
}

// The first loss of a storm is followed at once, too, and so is the first after
// it.
func TestEndOfAStormOfLostSessions(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		for range 8 {
			srv.Session(c.SessionID()).Expire()
			synctest.Wait()
			require.NoError(t, c.WaitConnected(t.Context()))
		}
		srv.Session(c.SessionID()).Expire()
		synctest.Wait()
		begin := time.Now()
		require.NoError(t, c.WaitConnected(t.Context()))
		require.Greater(t, time.Since(begin), time.Second)

		time.Sleep(2 * time.Second)
		for range 2 {
			srv.Session(c.SessionID()).Expire()
			time.Sleep(2 * 50 * time.Millisecond) // for the pause before it comes back to the server
			synctest.Wait()
			require.True(t, c.State().IsConnected())
		}
	})
}

func TestGrantThatIsTooShortIsNamed(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, retimed(srv, 20), framework.WithConnectionTimeout(time.Second))
		_, _, err := c.Get(t.Context(), "/")
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.ErrorContains(t, err, "20ms")

		c = newClient(t, srv, retimed(srv, 20), framework.WithSessionTimeout(20*time.Millisecond))
		require.NoError(t, c.WaitConnected(t.Context()), "as it was asked for")
	})
}

// An ensemble that takes long to create a session, longer than an attempt may
// take that must leave time for every server, or than the session lives.
func TestNewClientConnectsToASlowEnsemble(t *testing.T) {
	for name, slow := range map[string]zktest.Action{
		"creation, half a session":           zktest.DelayRequest(sessionTimeout / 2),
		"creation, nearly a session":         zktest.DelayRequest(sessionTimeout * 95 / 100),
		"creation, longer than the session":  zktest.DelayRequest(sessionTimeout * 3 / 2),
		"answer, half a session":             zktest.DelayReply(sessionTimeout / 2),
		"answer, when the session is nearly": zktest.DelayReply(sessionTimeout * 95 / 100),
	} {
		onNetwork(t, func(t *testing.T, n *network) {
			n.srv.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: slow})
			c := n.client(t, "a,b,c")
			require.NoError(t, c.WaitConnected(within(t, 2*time.Minute)), name)
			s, err := c.Session(t.Context())
			require.NoError(t, err, name)
			time.Sleep(time.Minute)
			require.NoError(t, s.Context().Err(), "%s: and goes on", name)
			require.Len(t, n.srv.Sessions(), 1, name)
		})
	}
}

// Contact is not counted from the answer to the handshake, however late it
// comes.
func TestSessionThatTookLongToCreateEndsInTime(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		srv.Inject(zktest.Rule{Op: zktest.OpConnect, Do: zktest.DelayReply(sessionTimeout / 2)})
		c := newClient(t, srv, alice)
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		srv.BlackholeAll()
		begin := time.Now()
		<-s.Context().Done()
		require.Equal(t, trusted, time.Since(begin), "since the ping of the handshake")
		require.Equal(t, 1, srv.CountRequests(zktest.OpPing))
	})
}

// Connections that are slow to make, and a session that is shorter than that.
func TestNewClientConnectsOverASlowNetwork(t *testing.T) {
	onNetwork(t, func(t *testing.T, n *network) {
		slow := func(ctx context.Context, nw, address string) (net.Conn, error) {
			select {
			case <-time.After(10 * time.Second):
				return n.dial(ctx, nw, address)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		c := n.client(t, "a,b,c", framework.WithDialer(slow), framework.WithSessionTimeout(2*time.Second),
			framework.WithConnectionTimeout(15*time.Second))
		require.NoError(t, c.WaitConnected(within(t, 2*time.Minute)))
	})
}

// The time for an attempt does not grow while there is a session to lose.
func TestPatienceWithASessionStaysAsItIs(t *testing.T) {
	onNetwork(t, func(t *testing.T, n *network) {
		c := n.client(t, "a,b,c")
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		n.srv.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: zktest.Blackhole()})
		n.tried()
		n.srv.CutAll()
		<-s.Context().Done()
		n.mu.Lock()
		defer n.mu.Unlock()
		for i := range n.tries[1:] {
			require.LessOrEqual(t, n.tries[i+1].at.Sub(n.tries[i].at), sessionTimeout*2/3/3+1500*time.Millisecond)
		}
		require.GreaterOrEqual(t, len(n.tries), 3)
	})
}

// The protocol has whole milliseconds.
func TestGrantOfWholeMillisecondsIsNotTooShort(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, retimed(srv, 33), framework.WithSessionTimeout(time.Second/30))
		require.NoError(t, c.WaitConnected(within(t, time.Second)))
	})
}
