package framework_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// requiresSASL is the answer of a server that requires authentication.
const requiresSASL = zktest.Code(-124)

// requireUnauthenticated checks the error of a client at servers that require an
// authentication that the client does not have.
func requireUnauthenticated(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, zk.ErrAuthFailed)
	require.False(t, framework.IsConnectionError(err), "waiting does not help")
	require.ErrorContains(t, err, "set framework.WithSASL")
	var refused *sasl.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, sasl.Error{Code: int32(requiresSASL)}, *refused)
}

// Promise: a server that requires authentication ends Connect and operations at once.
// The error says which options are missing, and the client never counts as connected.
func TestMissingSASLFailsAtOnce(t *testing.T) {
	for name, opts := range map[string][]framework.Option{
		"none": nil, "other credentials": {alice}, "strict contact": {alice, framework.WithStrictContact()},
	} {
		t.Run(name, func(t *testing.T) {
			saslServer(t, func(t *testing.T, srv *zktest.Server) {
				begin := time.Now()
				_, err := framework.Connect(within(t, time.Minute), srv.Addr(), append(opts, framework.WithDialer(srv.Dialer()))...)
				requireUnauthenticated(t, err)
				require.Less(t, time.Since(begin), time.Second)

				var log journal
				c := newClient(t, srv, append(opts, log.option())...)
				h := observe(t, c)
				_, _, err = c.Get(t.Context(), "/")
				requireUnauthenticated(t, err)
				srv.ClearRequests()
				time.Sleep(time.Minute)
				_, err = c.Set(t.Context(), "/", nil, framework.AnyVersion)
				requireUnauthenticated(t, err)
				require.NotContains(t, h.seen(), state.Connected)
				// Each attempt takes a handshake, and another one to end its session.
				require.InDelta(t, 12, srv.CountRequests(zktest.OpConnect), 4)
				refusals := 0
				for _, line := range log.warnings() {
					if line[:len("zookeeper servers refuse")] == "zookeeper servers refuse" {
						refusals++
						require.Contains(t, line, "set framework.WithSASL")
					}
				}
				require.Equal(t, 1, refusals)
			}, zkinside.With(zkinside.Settings{RequiredSASL: true}).(zktest.Option))
		})
	}
}

// The servers begin to require authentication while the client has a session. The
// client is disconnected then, and keeps the session for as long as the servers do.
func TestSASLThatServersBeginToRequire(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		h := observe(t, c)
		requests := srv.Inject(zktest.Rule{Op: zktest.OpAny, Times: -1, Do: zktest.Fail(requiresSASL)})
		pings := srv.Inject(zktest.Rule{Op: zkinside.OpPing, Times: -1, Do: zktest.Fail(requiresSASL)})
		srv.CutAll()
		for range 3 {
			begin := time.Now()
			_, _, err := c.Get(t.Context(), "/e")
			requireUnauthenticated(t, err)
			require.Less(t, time.Since(begin), time.Second)
			time.Sleep(time.Minute)
		}
		states := h.seen()
		require.Equal(t, state.Suspended, states[len(states)-1])
		require.LessOrEqual(t, len(states), 3, "it is connected once more, until the first answer: %v", states)
		requests.Remove()
		pings.Remove()
		time.Sleep(2 * time.Second)
		_, _, err := c.Get(t.Context(), "/e")
		require.NoError(t, err)
		require.NoError(t, n.Session.Context().Err())
	})
}

// Promise: one server that requires authentication, which the others do not, is passed over.
func TestOneServerThatRequiresSASLIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		for _, op := range []zktest.Op{zktest.OpAny, zkinside.OpPing} {
			ens.Members()[1].Inject(zktest.Rule{Op: op, Times: -1, Do: zktest.Fail(requiresSASL)})
		}
		for range 50 { // a client that tries that server first is pinged there, with 50 clients for certain
			c, err := framework.Connect(within(t, time.Minute), ens.ConnectString(),
				framework.WithDialer(ens.Dialer()), framework.WithSessionTimeout(sessionTimeout))
			require.NoError(t, err)
			n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
			for range 2 {
				for _, m := range ens.Members() {
					m.CutAll()
				}
				require.NoError(t, c.Sync(t.Context(), "/e"))
				_, _, err = c.Get(t.Context(), "/e")
				require.NoError(t, err)
			}
			require.NoError(t, n.Session.Context().Err())
			require.NoError(t, c.Close())
		}
	})
}

// An operation that is not tried again has the server's answer as its error.
func TestAnswerThatRequiresSASLMatchesARefusal(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithRetry(retry.None()))
		require.NoError(t, c.WaitConnected(t.Context()))
		srv.Inject(zktest.Rule{Do: zktest.Fail(requiresSASL)})
		_, err := c.Set(t.Context(), "/", nil, framework.AnyVersion)
		require.ErrorIs(t, err, zk.ErrAuthFailed)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.ErrorContains(t, err, "set framework.WithSASL")
		code, _ := framework.ServerCode(err)
		require.EqualValues(t, requiresSASL, code)
	})
}

// Promise: neither Close nor the end of Connect's context waits for an exchange that does
// not end, and no session is left on a server that answers the next request.
func TestNothingWaitsForTheExchange(t *testing.T) {
	for name, fault := range map[string]zktest.Action{
		"lost request": zktest.DropRequest(), "silence": zktest.Blackhole(), "late": zktest.DelayReply(time.Hour),
	} {
		for message := range 2 {
			t.Run(name, func(t *testing.T) {
				saslServer(t, func(t *testing.T, srv *zktest.Server) {
					srv.Inject(zktest.Rule{Op: zkinside.OpSASL, After: message, Do: fault})
					begin := time.Now()
					ctx := within(t, 10*time.Millisecond)
					_, err := framework.Connect(ctx, srv.Addr(), framework.WithDialer(srv.Dialer()), joe)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.ErrorIs(t, err, framework.ErrNotConnected)
					require.LessOrEqual(t, time.Since(begin), time.Second)
					synctest.Wait()
					require.Empty(t, srv.Sessions())

					c := unclosed(t, srv, joe)
					require.NoError(t, c.WaitConnected(t.Context()))
					mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
					srv.Inject(zktest.Rule{Op: zkinside.OpSASL, After: message, Do: fault})
					srv.CutAll()
					synctest.Wait()
					require.LessOrEqual(t, closing(t, c), time.Second)
					require.Empty(t, srv.Sessions())
				})
			})
		}
	}
}

func TestSessionThatExpiresDuringTheExchangeIsReplaced(t *testing.T) {
	for message := range 2 {
		saslServer(t, func(t *testing.T, srv *zktest.Server) {
			c := newClient(t, srv, joe)
			n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
			expire := zktest.Call(func(r zktest.Request) { srv.Session(r.Session).Expire() })
			srv.Inject(zktest.Rule{Op: zkinside.OpSASL, After: message, Do: expire})
			srv.CutAll()
			_, _, err := c.Get(t.Context(), "/e")
			require.ErrorIs(t, err, zk.ErrNoNode)
			require.ErrorIs(t, context.Cause(n.Session.Context()), framework.ErrSessionLost)
			mustCreate(t, c, "/his", "x", framework.WithACL([]zk.ACL{{Perms: zk.PermAll, Scheme: "sasl", ID: "joe"}}))
			_, _, err = c.Get(t.Context(), "/his")
			require.NoError(t, err)
		}, zkinside.With(zkinside.Settings{RequiredSASL: true}).(zktest.Option))
	}
}

// Promise: a client WithSASL that fails over to a server without SASL sends it nothing
// else, and goes on where it is authenticated.
func TestServerWithoutSASLIsPassedOver(t *testing.T) {
	saslServer(t, func(t *testing.T, srv *zktest.Server) {
		open := zktest.Start(t)
		c, err := framework.New("closed:1,open:1", framework.WithSessionTimeout(sessionTimeout), joe,
			framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				if address == "open:1" {
					return open.Dialer()(ctx, network, open.Addr())
				}
				return srv.Dialer()(ctx, network, srv.Addr())
			}))
		require.NoError(t, err)
		defer c.Close()
		for range 20 {
			require.NoError(t, c.Sync(t.Context(), "/"))
			srv.CutAll()
		}
		require.NoError(t, srv.Stop())
		_, _, err = c.Get(t.Context(), "/")
		requireRefused(t, err, 0)
		time.Sleep(time.Minute)
		requireOnlySASL(t, open)
		require.NoError(t, srv.Restart())
		time.Sleep(time.Minute)
		require.NoError(t, c.Sync(t.Context(), "/"))
	})
}

// endless is a mechanism whose exchange does not end.
type endless struct{ sasl.Mechanism }

func (m endless) Start(context.Context, string) (sasl.Exchange, []byte, error) { return m, nil, nil }

func (endless) Step([]byte) ([]byte, bool, error) {
	time.Sleep(time.Millisecond)
	return []byte("more"), false, nil
}

// The attempt to connect bounds the exchange, however many messages there are.
func TestExchangeWithoutAnEndIsBounded(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) { // it answers every message, with none
		c := newClient(t, srv, framework.WithSASL(endless{sasl.DigestMD5("joe", "")}))
		_, _, err := c.Get(within(t, sessionTimeout-time.Second), "/")
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.ErrorContains(t, err, `during SASL DIGEST-MD5 as "joe": `)
		requireOnlySASL(t, srv)
	})
}

// broken is a mechanism that is its own exchange, and whose step is a function.
type broken struct {
	sasl.Mechanism
	step func() ([]byte, bool, error)
}

func (m broken) Start(context.Context, string) (sasl.Exchange, []byte, error) { return m, nil, nil }
func (m broken) Step([]byte) ([]byte, bool, error)                            { return m.step() }

// Promise: a mechanism that breaks its contract is a refusal, and its errors do not pass
// for the client's own.
func TestBrokenMechanismIsARefusal(t *testing.T) {
	for name, step := range map[string]func() ([]byte, bool, error){
		"nothing":          func() ([]byte, bool, error) { return nil, false, nil },
		"error":            func() ([]byte, bool, error) { return nil, false, errors.New("broken") },
		"error at the end": func() ([]byte, bool, error) { return []byte("x"), true, errors.New("broken") },
		"client's errors": func() ([]byte, bool, error) {
			return nil, true, errors.Join(framework.ErrClosed, framework.ErrSessionLost, context.Canceled, zk.ErrSessionExpired)
		},
	} {
		saslServer(t, func(t *testing.T, srv *zktest.Server) {
			c := newClient(t, srv, framework.WithSASL(broken{sasl.DigestMD5("joe", ""), step}))
			_, _, err := c.Get(t.Context(), "/")
			require.Error(t, err, name)
			requireRefused(t, err, 0)
			for _, own := range []error{framework.ErrClosed, framework.ErrSessionLost, context.Canceled, zk.ErrSessionExpired} {
				require.NotErrorIs(t, err, own)
			}
			requireOnlySASL(t, srv)
		})
	}
}

// hollow is a mechanism that returns a nil pointer in place of an exchange.
type hollow struct{ sasl.Mechanism }

func (hollow) Start(context.Context, string) (sasl.Exchange, []byte, error) {
	return (*alteredExchange)(nil), nil, nil
}

func TestNilPointerInPlaceOfAnExchangeIsARefusal(t *testing.T) {
	saslServer(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithSASL(hollow{sasl.DigestMD5("joe", "")}))
		_, _, err := c.Get(t.Context(), "/")
		requireRefused(t, err, 0)
	})
}

// Promise: SASL, TLS and other credentials go together.
func TestSASLOverTLSWithCredentials(t *testing.T) {
	saslServer(t, func(t *testing.T, srv *zktest.Server) {
		cert, pool := certificate(t)
		c, err := framework.New("zk1", framework.WithSessionTimeout(sessionTimeout),
			framework.WithDialer(tlsDialer(srv, cert)), framework.WithTLS(&tls.Config{RootCAs: pool}), joe, alice)
		require.NoError(t, err)
		defer c.Close()
		mustCreate(t, c, "/theirs", "", framework.WithACL(append(zk.DigestACL(zk.PermRead, "alice", "secret"),
			zk.ACL{Perms: zk.PermWrite, Scheme: "sasl", ID: "joe"})))
		for range 2 {
			_, _, err = c.Get(t.Context(), "/theirs")
			require.NoError(t, err)
			_, err = c.Set(t.Context(), "/theirs", nil, framework.AnyVersion)
			require.NoError(t, err)
			srv.CutAll()
		}
	}, zkinside.With(zkinside.Settings{RequiredSASL: true}).(zktest.Option))
}
