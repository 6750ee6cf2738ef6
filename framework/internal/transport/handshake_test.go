package transport

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

func TestServerThatReplacesTheSessionIsMadeToSayExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		c, p := dialed(t, l)
		go c.Write(connectFrame(7))
		p.read()
		go p.write(connectAnswer(9*time.Second, 8))
		f, err := c.readAll()
		require.NoError(t, err)
		require.Zero(t, binary.BigEndian.Uint32(f[4:]), "timeout")
		require.Zero(t, binary.BigEndian.Uint64(f[8:]), "session")
		_, timeout := l.LastContact()
		require.Zero(t, timeout, "nothing is established")
	})
}

func TestHandshakeOfTheSameSessionIsPassedOnAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := dialed(t, NewLink(Config{}))
		go c.Write(connectFrame(7))
		p.read()
		go p.write(connectAnswer(9*time.Second, 7))
		f, err := c.readAll()
		require.NoError(t, err)
		require.Equal(t, connectAnswer(9*time.Second, 7)[4:], f)
	})
}

func TestEveryConnectionIsAuthenticatedBeforeAnythingElse(t *testing.T) {
	withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *sessionOwner) {
		o.watch(t, "/missing")
		o.mu.Lock()
		o.creds = []Credentials{{"digest", []byte("u:p")}, {"digest", []byte("v:q")}}
		o.mu.Unlock()
		for range 2 {
			srv.ClearRequests()
			srv.CutAll()
			time.Sleep(3 * time.Second)
			var ops []zktest.Op
			for _, r := range srv.Requests() {
				ops = append(ops, r.Op)
			}
			require.Equal(t, []zktest.Op{
				zktest.OpConnect, zkinside.OpAuth, zkinside.OpAuth, zkinside.OpSetWatches,
			}, ops[:4])
		}
		require.Empty(t, o.failures())
	})
}

func TestRefusedCredentialsAreToldAndTheConnectionIsTriedAgain(t *testing.T) {
	withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *sessionOwner) {
		o.mu.Lock()
		o.creds = []Credentials{{"nonsense", nil}}
		o.mu.Unlock()
		srv.CutAll()
		time.Sleep(5 * time.Second)
		var refused *AuthError
		require.ErrorAs(t, o.failures()[0], &refused)
		require.Equal(t, "nonsense", refused.Scheme)
		_, err := send(o.link, "/")
		require.ErrorIs(t, err, ErrNotSent, "nothing passes without authentication")

		o.mu.Lock()
		o.creds = nil
		o.mu.Unlock()
		time.Sleep(5 * time.Second)
		o.request(t, proto.OpSync, "/")
	})
}

// A connection that dies during authentication would block the library for
// good, if the library did the authentication.
func TestConnectionThatDiesDuringAuthenticationIsReplaced(t *testing.T) {
	withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *sessionOwner) {
		o.mu.Lock()
		o.creds = []Credentials{{"digest", []byte("u:p")}}
		o.mu.Unlock()
		for _, fault := range []zktest.Action{zktest.DropRequest(), zktest.DropReply(), zktest.Blackhole()} {
			srv.Inject(zktest.Rule{Op: zkinside.OpAuth, Times: 1, Do: fault})
			srv.CutAll()
			time.Sleep(15 * time.Second)
			o.request(t, proto.OpSync, "/")
		}
	})
}

// Servers of version 3.4 and later send a flag at the end. Older servers do not,
// and newer ones may send more.
func TestHandshakesOfRealServersAreTaken(t *testing.T) {
	password := string(make([]byte, 16))
	for name, answer := range map[string][]byte{
		"with a flag":       frame(0, 9000, int64(7), password, false),
		"read-only":         frame(0, 9000, int64(7), password, true),
		"without a flag":    frame(0, 9000, int64(7), password),
		"expired":           frame(0, 0, int64(0), password, false),
		"without password":  frame(0, 9000, int64(7), ""),
		"password of null":  frame(0, 9000, int64(7), -1),
		"negative sessions": frame(0, 9000, int64(-7), password),
		"of a newer server": frame(0, 9000, int64(7), password, false, "what nobody knows yet", int64(1)),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := dialed(t, NewLink(Config{}))
				go c.Write(connectFrame(0))
				p.read()
				go func() { p.write(answer); p.answerPing() }()
				f, err := c.readAll()
				require.NoError(t, err)
				require.Equal(t, answer[4:], f)
			})
		})
	}
}

func TestMalformedHandshakesAreRefused(t *testing.T) {
	for name, answer := range map[string][]byte{
		"too short":                 frame(0, 9000),
		"timeout of zero":           frame(0, 0, int64(7), ""),
		"negative timeout":          frame(0, -5, int64(7), ""),
		"no password":               frame(0, 9000, int64(7)),
		"half a password":           frame(0, 9000, int64(7), 16, []byte("12345678")),
		"password of 2 GiB":         frame(0, 9000, int64(7), 0x7fffffff, make([]byte, 17)),
		"the same, session expired": frame(0, 0, int64(0), 0x7fffffff, make([]byte, 17)),
		"password of -2 bytes":      frame(0, 9000, int64(7), -2, make([]byte, 17)),
		"password of 1,000 bytes":   frame(0, 9000, int64(7), string(make([]byte, 1000))),
		"longer than a kilobyte":    frame(0, 9000, int64(7), string(make([]byte, 1024))),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := dialed(t, NewLink(Config{}))
				go c.Write(connectFrame(0))
				p.read()
				go p.write(answer)
				_, err := c.readAll()
				require.ErrorIs(t, err, errMalformed)
			})
		})
	}
}

// A server that requires authentication refuses a ping that precedes the credentials,
// however long the session has taken to create.
func TestCredentialsPrecedeThePing(t *testing.T) {
	for _, delay := range []time.Duration{0, 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			l := NewLink(Config{Credentials: func() []Credentials { return []Credentials{{"digest", []byte("u:p")}} }})
			c, p := dialed(t, l)
			c.Write(connectFrame(0))
			p.read()
			time.Sleep(delay)
			go p.write(connectAnswer(9*time.Second, 7))
			go c.readAll()
			require.Equal(t, []int32{proto.OpAuth, proto.OpPing}, p.readOps(2))
			p.write(answerFrame(firstOwnXid, 0, 0))
			synctest.Wait()
			_, isHeld := l.Held()
			require.False(t, isHeld, "the server has not answered the ping")
			p.write(pingAnswer)
			synctest.Wait()
			_, isHeld = l.Held()
			require.True(t, isHeld)
		})
	}
}

// Promise: an answer that requires authentication proves nothing about the session, and
// no session counts as accepted again until the server has answered a ping.
func TestServerThatRequiresAuthenticationDoesNotServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed error
		l := NewLink(Config{Failed: func(err error) { failed = err }})
		begin := time.Now()
		c, p := established(t, l, 7, 9*time.Second)
		time.Sleep(time.Second)
		call, err := send(l, "/n")
		require.NoError(t, err)
		go p.write(answerFrame(xidOf(p.read()), 0, -124))
		_, err = c.readAll()
		require.ErrorIs(t, err, errSessionRefused)
		code, _, _, err := call.Answer()
		require.NoError(t, err)
		require.EqualValues(t, -124, code)
		require.Zero(t, contactAfter(l, begin))

		refused := func(code int) {
			c, p := dialed(t, l)
			go c.Write(connectFrame(7))
			p.read()
			go p.write(connectAnswer(9*time.Second, 7))
			go func() { p.read(); p.write(answerFrame(proto.XidPing, 0, code)) }()
			_, err := c.readAll()
			require.Error(t, err)
			require.ErrorIs(t, failed, err)
			_, isHeld := l.Held()
			require.False(t, isHeld)
		}
		for range 2 {
			refused(-124)
			var required *sasl.Error
			require.ErrorAs(t, failed, &required)
			require.Equal(t, sasl.Error{Code: -124}, *required)
		}
		refused(-112)
		require.ErrorIs(t, failed, errMalformed)

		c, p = dialed(t, l)
		go c.Write(connectFrame(7))
		p.read()
		go func() { p.write(connectAnswer(9*time.Second, 7)); p.answerPing() }()
		_, err = c.readAll()
		require.NoError(t, err)
		c.Close()
		_, p = established(t, l, 7, 9*time.Second)
		require.True(t, p.silent(), "the next reconnect needs no ping")
	})
}
