package framework_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

var joe = framework.WithSASL(sasl.DigestMD5("joe", "open sesame"))

// saslServer runs a test in virtual time with a server of one SASL user, joe.
func saslServer(t *testing.T, test func(t *testing.T, srv *zktest.Server), opts ...zktest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, zktest.Start(t, append(opts, zktest.WithSASLUser("joe", "open sesame"))...))
	})
}

// requireRefused checks the error of a client whose authentication has failed.
func requireRefused(t *testing.T, err error, code int32) *sasl.Error {
	t.Helper()
	require.ErrorIs(t, err, zk.ErrAuthFailed)
	require.False(t, framework.IsConnectionError(err), "waiting does not help")
	require.NotContains(t, err.Error(), "sesame")
	var refused *sasl.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "DIGEST-MD5", refused.Mechanism)
	require.Equal(t, code, refused.Code)
	require.ErrorContains(t, err, refused.Error())
	return refused
}

// requireOnlySASL checks that no connection went on without authentication.
func requireOnlySASL(t *testing.T, srv *zktest.Server) {
	t.Helper()
	for _, op := range ops(srv) {
		require.Contains(t, []zktest.Op{zkinside.OpSASL, zkinside.OpCloseSession}, op)
	}
}

// Promise: a client WithSASL is authenticated on every connection and in every session.
func TestSASLHoldsOnEveryConnectionAndInEverySession(t *testing.T) {
	saslServer(t, func(t *testing.T, srv *zktest.Server) {
		c, stranger := newClient(t, srv, joe), another(t, srv)
		mustCreate(t, c, "/his", "x", framework.WithACL([]zk.ACL{{Perms: zk.PermAll, Scheme: "sasl", ID: "joe"}}))
		_, _, err := stranger.Get(t.Context(), "/his")
		require.ErrorIs(t, err, zk.ErrNoAuth)
		for name, disturb := range map[string]func(){
			"none":      func() {},
			"reconnect": func() { srv.Session(c.SessionID()).Cut() },
			"expiry":    func() { srv.Session(c.SessionID()).Expire() },
			"restart":   func() { srv.Stop(); require.NoError(t, srv.Restart()) },
		} {
			disturb()
			synctest.Wait()
			_, _, err := c.Get(t.Context(), "/his")
			require.NoError(t, err, name)
		}
	})
}

// Promise: nothing of the session precedes SASL, whatever the client has to send.
func TestSASLPrecedesEverythingElse(t *testing.T) {
	saslServer(t, func(t *testing.T, srv *zktest.Server) {
		srv.Inject(zktest.Rule{Op: zktest.OpConnect, Do: zktest.DelayReply(sessionTimeout/3 + time.Second)}) // the first ping is due
		for _, opts := range [][]framework.Option{{joe}, {joe, alice, framework.WithStrictContact()}} {
			c := newClient(t, srv, append(opts, framework.WithConnectionTimeout(time.Minute))...)
			mustCreate(t, c, "/n", "")
			_, _, _, err := c.GetW(t.Context(), "/n")
			require.NoError(t, err)
			srv.CutAll()
			for range 20 {
				require.NoError(t, c.Sync(t.Context(), "/n"))
				require.NoError(t, c.Delete(t.Context(), "/n", framework.AnyVersion))
				mustCreate(t, c, "/n", "")
				time.Sleep(time.Second)
			}
			require.NoError(t, c.Delete(t.Context(), "/n", framework.AnyVersion))
		}
		byConn := map[int64][]zktest.Op{}
		for _, r := range srv.Requests() {
			require.NotEqual(t, zktest.Code(-124), r.Err, "%v", r)
			byConn[r.Conn] = append(byConn[r.Conn], r.Op)
		}
		require.GreaterOrEqual(t, len(byConn), 4)
		for _, ops := range byConn {
			require.Equal(t, []zktest.Op{zktest.OpConnect, zkinside.OpSASL, zkinside.OpSASL}, ops[:3])
		}
	}, zkinside.With(zkinside.Settings{RequiredSASL: true}).(zktest.Option))
}

// Promise: a refusal ends Connect and operations at once, names mechanism and
// principal, and is never followed by a session without authentication.
func TestRefusedSASLFailsAtOnce(t *testing.T) {
	for _, required := range []bool{false, true} {
		opts, code := []zktest.Option(nil), int32(-115)
		if required {
			opts, code = append(opts, zkinside.With(zkinside.Settings{RequiredSASL: true}).(zktest.Option)), -124
		}
		saslServer(t, func(t *testing.T, srv *zktest.Server) {
			for _, m := range []sasl.Mechanism{sasl.DigestMD5("joe", "sesame street"), sasl.DigestMD5("jim", "open sesame")} {
				begin := time.Now()
				_, err := framework.Connect(within(t, time.Minute), srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithSASL(m))
				require.Equal(t, m.Principal(), requireRefused(t, err, code).Principal)
				require.Less(t, time.Since(begin), time.Second)
			}
			srv.ClearRequests()
			c := newClient(t, srv, framework.WithSASL(sasl.DigestMD5("joe", "sesame street")))
			_, _, err := c.Get(t.Context(), "/")
			requireRefused(t, err, code)

			// It goes on trying, with less and less haste, and leaves no sessions that
			// the server lets it end.
			time.Sleep(time.Minute)
			_, err = c.Set(t.Context(), "/", nil, framework.AnyVersion)
			requireRefused(t, err, code)
			require.InDelta(t, 12, srv.CountRequests(zkinside.OpSASL), 4)
			requireOnlySASL(t, srv)
			if !required {
				require.Empty(t, srv.Sessions())
			}
		}, opts...)
	}
}

func TestRefusedSASLIsForgottenOnceTheServerAccepts(t *testing.T) {
	saslServer(t, func(t *testing.T, srv *zktest.Server) {
		srv.Inject(zktest.Rule{Op: zkinside.OpSASL, Do: zktest.Fail(zkinside.ErrAuthFailed)})
		c := newClient(t, srv, joe)
		_, _, err := c.Get(t.Context(), "/")
		requireRefused(t, err, -115)
		time.Sleep(time.Minute)
		_, _, err = c.Get(t.Context(), "/")
		require.NoError(t, err)
	})
}

// altered is a mechanism behind a network that alters messages.
type altered struct {
	sasl.Mechanism
	challenge func(step int, challenge []byte) []byte
	response  func(response string) string
}

func (a altered) Start(ctx context.Context, server string) (sasl.Exchange, []byte, error) {
	e, first, err := a.Mechanism.Start(ctx, server)
	return &alteredExchange{e, a, 0}, first, err
}

type alteredExchange struct {
	sasl.Exchange
	how  altered
	step int
}

func (e *alteredExchange) Step(challenge []byte) ([]byte, bool, error) {
	e.step++
	if e.how.challenge != nil {
		challenge = e.how.challenge(e.step, challenge)
	}
	response, done, err := e.Exchange.Step(challenge)
	if e.how.response != nil {
		response = []byte(e.how.response(string(response)))
	}
	return response, done, err
}

// Promise: a server that does not authenticate itself, or breaks the exchange, gets no
// request of the client.
func TestServerThatDoesNotProveItselfIsNotUsed(t *testing.T) {
	at := func(step int, message string) func(int, []byte) []byte {
		return func(i int, challenge []byte) []byte {
			if i == step {
				return []byte(message)
			}
			return challenge
		}
	}
	replace := func(from, to string) func(string) string {
		return func(s string) string { return strings.Replace(s, from, to, 1) }
	}
	for name, tc := range map[string]struct {
		how  altered
		code int32
	}{
		"no proof":            {how: altered{challenge: at(2, "")}},
		"false proof":         {how: altered{challenge: at(2, "rspauth=0123456789abcdef0123456789abcdef")}},
		"the challenge again": {how: altered{challenge: at(2, `nonce="x",algorithm=md5-sess`)}},
		"malformed challenge": {how: altered{challenge: at(1, `nonce="x`)}},
		"other algorithm":     {how: altered{challenge: at(1, `nonce="x",algorithm=md5`)}},
		"other realm":         {how: altered{challenge: at(1, `realm="x",nonce="x",algorithm=md5-sess`)}, code: -115},
		"replayed challenge":  {how: altered{challenge: at(1, `realm="zk-sasl-md5",nonce="x",algorithm=md5-sess`)}, code: -115},
		"altered realm":       {how: altered{response: replace(`realm="zk`, `realm="x`)}, code: -115},
		"altered service":     {how: altered{response: replace(`/zk-sasl-md5`, `/elsewhere`)}, code: -115},
		"no message":          {how: altered{challenge: func(int, []byte) []byte { return nil }}},
	} {
		saslServer(t, func(t *testing.T, srv *zktest.Server) {
			tc.how.Mechanism = sasl.DigestMD5("joe", "open sesame")
			c := newClient(t, srv, framework.WithSASL(tc.how))
			_, _, err := c.Get(t.Context(), "/")
			require.Error(t, err, name)
			requireRefused(t, err, tc.code)
			requireOnlySASL(t, srv)
		})
	}
}

// A server without SASL answers with no message, and goes on. So does one that has the
// setting allowSaslFailedClients.
func TestServerWithoutSASLIsNotUsed(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, joe)
		_, _, err := c.Get(t.Context(), "/")
		requireRefused(t, err, 0)
		require.ErrorContains(t, err, "its SASL is not configured")
		requireOnlySASL(t, srv)
	})
}

// Promise: an exchange that a server delays, or does not finish, costs an attempt to
// connect and nothing else.
func TestInterruptedSASLIsBegunAgain(t *testing.T) {
	for name, fault := range map[string]zktest.Action{
		"lost request": zktest.DropRequest(), "lost answer": zktest.DropReply(), "reset": zkinside.Reset().(zktest.Action),
		"silence": zktest.Blackhole(), "late": zktest.DelayReply(time.Second), "too late": zktest.DelayReply(time.Hour),
	} {
		for message := range 2 {
			saslServer(t, func(t *testing.T, srv *zktest.Server) {
				c := newClient(t, srv, joe, framework.WithConnectionTimeout(time.Minute))
				n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
				srv.Inject(zktest.Rule{Optional: true, Op: zkinside.OpSASL, After: message, Do: fault})
				srv.CutAll()
				_, _, err := c.Get(t.Context(), "/e")
				require.NoError(t, err, name)
				require.NoError(t, n.Session.Context().Err(), "%s: the session goes on", name)
			}, zkinside.With(zkinside.Settings{RequiredSASL: true}).(zktest.Option))
		}
	}
}

func TestInterruptedSASLIsNamed(t *testing.T) {
	saslServer(t, func(t *testing.T, srv *zktest.Server) {
		srv.Inject(zktest.Rule{Op: zkinside.OpSASL, Times: -1, Do: zktest.DropReply()})
		_, err := framework.Connect(within(t, time.Second), srv.Addr(), framework.WithDialer(srv.Dialer()), joe)
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.ErrorContains(t, err, `during SASL DIGEST-MD5 as "joe": EOF`)
	})
}

// Promise: reconnects with SASL leave nothing behind.
func TestThousandReconnectsWithSASLLeakNothing(t *testing.T) {
	saslServer(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, joe)
		n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		var before, after runtime.MemStats
		goroutines := 0
		for i := range 1000 {
			srv.CutAll()
			require.NoError(t, c.Sync(t.Context(), "/"))
			if i == 100 {
				synctest.Wait()
				goroutines = runtime.NumGoroutine()
				runtime.GC()
				runtime.ReadMemStats(&before)
				srv.ClearRequests()
			}
		}
		require.Equal(t, 2*899, srv.CountRequests(zkinside.OpSASL))
		srv.ClearRequests()
		synctest.Wait()
		require.Less(t, runtime.NumGoroutine(), goroutines+100, "a leak is one for each of 899 reconnects")
		runtime.GC()
		runtime.ReadMemStats(&after)
		require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(1<<20))
		require.NoError(t, n.Session.Context().Err())
		require.Equal(t, 1, srv.Stats().Connections)
	}, zkinside.With(zkinside.Settings{RequiredSASL: true, RequestLog: -1}).(zktest.Option))
}

// kdc is a mechanism that needs another service to begin.
type kdc struct {
	sasl.Mechanism
	start func(ctx context.Context, server string) error
}

func (m kdc) Start(ctx context.Context, server string) (sasl.Exchange, []byte, error) {
	if err := m.start(ctx, server); err != nil {
		return nil, nil, err
	}
	return m.Mechanism.Start(ctx, server)
}

// Promise: a mechanism that cannot begin costs attempts to connect. The session goes on
// if the mechanism can begin in time.
func TestSessionSurvivesAMechanismThatCannotBegin(t *testing.T) {
	for name, hangs := range map[string]bool{"fails": false, "hangs": true} {
		saslServer(t, func(t *testing.T, srv *zktest.Server) {
			var away atomic.Bool
			servers := make(chan string, 1000)
			c := newClient(t, srv, framework.WithSASL(kdc{sasl.DigestMD5("joe", "open sesame"), func(ctx context.Context, server string) error {
				servers <- server
				switch {
				case away.Load() && hangs:
					<-ctx.Done()
					return ctx.Err()
				case away.Load():
					return &net.OpError{Op: "dial", Err: errors.New("the KDC is away")}
				}
				return nil
			}}))
			n := mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
			away.Store(true)
			srv.CutAll()
			_, _, err := c.Get(within(t, 3*time.Second), "/e")
			require.ErrorIs(t, err, framework.ErrNotConnected, name)
			away.Store(false)
			_, _, err = c.Get(t.Context(), "/e")
			require.NoError(t, err, name)
			require.NoError(t, n.Session.Context().Err(), name)
			require.Equal(t, "::1%needs-zktest.Server.Dialer", <-servers, "the host without the port")
			away.Store(true)
			srv.CutAll()
			synctest.Wait()
			require.LessOrEqual(t, closing(t, c), time.Second, "%s: Close does not wait for it", name)
		})
	}
}

func TestMechanismMayRefuseBeforeItBegins(t *testing.T) {
	saslServer(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithSASL(kdc{sasl.DigestMD5("joe", "open sesame"), func(context.Context, string) error {
			return errors.Join(zk.ErrNoNode, &sasl.Error{Mechanism: "DIGEST-MD5", Principal: "joe", Err: errors.New("unknown to the KDC")})
		}}))
		_, _, err := c.Get(t.Context(), "/")
		requireRefused(t, err, 0)
		require.ErrorContains(t, err, "unknown to the KDC")
		require.NotErrorIs(t, err, zk.ErrNoNode)
		require.Empty(t, srv.Requests(), "no session is asked for")
	})
}

// empty is a mechanism that begins nothing.
type empty struct{ sasl.Mechanism }

func (empty) Start(context.Context, string) (sasl.Exchange, []byte, error) { return nil, nil, nil }

func TestMechanismWithoutAnExchangeIsARefusal(t *testing.T) {
	saslServer(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithSASL(empty{sasl.DigestMD5("joe", "open sesame")}))
		_, _, err := c.Get(t.Context(), "/")
		requireRefused(t, err, 0)
		require.Empty(t, srv.Requests(), "no session is asked for")
	})
}

// silent is a mechanism that returns nil in place of an empty first message.
type silent struct{ sasl.Mechanism }

func (m silent) Start(ctx context.Context, server string) (sasl.Exchange, []byte, error) {
	e, _, err := m.Mechanism.Start(ctx, server)
	return e, nil, err
}

// Promise: Close ends the session, also on another connection, at a server that
// requires authentication of every request.
func TestCloseAuthenticatesToEndTheSession(t *testing.T) {
	for _, stay := range []bool{false, true} {
		saslServer(t, func(t *testing.T, srv *zktest.Server) {
			c := unclosed(t, srv, framework.WithSASL(silent{sasl.DigestMD5("joe", "open sesame")}))
			mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
			n := mustCreate(t, c, "/kept", "", framework.WithMode(framework.Ephemeral))
			if stay {
				keepUntil(c, n, time.Hour)
			}
			srv.CutAll()
			require.LessOrEqual(t, closing(t, c), time.Second)
			synctest.Wait()
			_, there := srv.Node("/e")
			require.False(t, there)
			_, there = srv.Node("/kept")
			require.Equal(t, stay, there)
		}, zkinside.With(zkinside.Settings{RequiredSASL: true}).(zktest.Option))
	}
}

func TestSASLOptionThatCannotBeMeantIsRefused(t *testing.T) {
	for _, m := range []sasl.Mechanism{nil, sasl.DigestMD5("", "open sesame"), (*struct{ sasl.Mechanism })(nil)} {
		_, err := framework.New("host", framework.WithSASL(m))
		var invalid *framework.ConfigError
		require.ErrorAs(t, err, &invalid)
	}
}
