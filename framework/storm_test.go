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
	"github.com/gocurator/curator/internal/zkinside"
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
			srv.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: zktest.Fail(zkinside.ErrSessionExpired)})
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
		time.AfterFunc(time.Millisecond, func() { zkinside.Of(srv).ReplaceSession(r.Session); srv.CutAll() })
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
		require.Equal(t, 1, srv.CountRequests(zkinside.OpPing))
	})
}
