//go:build real

package zktest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/internal/zkserver"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestSASLConforms(t *testing.T) {
	srv := zkserver.Start(t, append(realServerOptions(),
		zkserver.WithSASLUsers(t, map[string]string{"joe": "secret", "sue": "pa\\ss\"wört €", "super": "s"}))...)
	users := []Option{WithSASLUser("joe", "secret"), WithSASLUser("sue", "pa\\ss\"wört €"), WithSASLUser("super", "s")}
	auth := []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "auth", ID: ""}}}
	joes := []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "sasl", ID: "joe"}}}
	for name, script := range map[string]func(s *stage){
		"identities": func(s *stage) {
			a, b, c, d := s.client(), s.client(), s.client(), s.client()
			a.do(wire.OpCreate, "/early", []byte("x"), auth, 0)
			a.do(wire.OpCreate, "/early", []byte("x"), joes, 0)
			a.authenticate("joe", "secret")
			b.authenticate("sue", "pa\\ss\"wört €")
			c.authenticate("super", "s")
			for _, p := range []*player{a, b, c, d} {
				p.get("/early", false)
			}
			a.do(wire.OpCreate, "/joe", []byte("x"), auth, 0)
			a.do(wire.OpGetACL, "/joe")
			b.do(wire.OpAuth, 0, "digest", []byte("joe:secret"))
			b.do(wire.OpCreate, "/both", []byte("x"), auth, 0)
			for _, p := range []*player{a, b, c, d} {
				p.do(wire.OpGetACL, "/both")
				p.get("/joe", false)
			}
			a.hangUp()
			a.reconnect()
			a.get("/joe", false)
			a.authenticate("joe", "secret")
			a.get("/joe", false)
		},
		"names in an ACL": func(s *stage) {
			a := s.client()
			for _, id := range []string{"", "joe", "nobody", "joe/zk1", "joe/zk1/x", "joe@R", "joe/zk1@R", "joe/@R", "/@", "@", "a/b/c@R", "joe@R@S", "joe@R/S", "a\nb", "a b", "m\u00fcller"} {
				a.do(wire.OpCreate, "/n-", []byte("x"), []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "sasl", ID: id}}}, int(wire.FlagSequence))
			}
		},
		"wrong password": func(s *stage) {
			for _, user := range []string{"joe", "nobody"} {
				a := s.client()
				a.authenticate(user, "wrong")
				a.reconnect()
				a.exists("/", false)
			}
		},
		"responses": func(s *stage) {
			for _, change := range [][2]string{
				{"", ""}, {`realm="zk-sasl-md5"`, `realm="elsewhere"`}, {`realm="zk-sasl-md5",`, ""}, {`digest-uri="zookeeper`, `digest-uri="hdfs`},
				{`/zk-sasl-md5"`, `/zk1"`}, {`nonce="`, `nonce="x`}, {"nc=00000001", "nc=00000002"}, {"nc=00000001,", ""}, {"nc=00000001", "nc=x"}, {"cnonce=", "x="},
				{"qop=auth,", ""}, {"qop=auth", "qop=auth-int"}, {"response=", "response=0"}, {"username=", "user="}, {`username="joe"`, `username="sue"`},
				{`username="joe"`, `username=joe`}, {`username="joe"`, `username="j\oe"`}, {`username="joe"`, `username="joe`}, {`username="joe"`, `username="joe"x`},
				{"qop=auth", `qop="auth"`}, {"qop=auth", "qop=auth,qop=auth"}, {"maxbuf=65536,", ""}, {"qop=auth", "qop=auth,unknown=x"}, {"qop=auth", "qop=auth,"},
				{"charset=utf-8,", ""}, {"charset=utf-8,", "charset=latin1,"}, {",authzid=\"joe\"", ""}, {",authzid=\"joe\"", ",authzid=\"sue\""},
				{",qop=auth", ",qop=auth" + strings.Repeat(",", 4096)}, {"response=", "response =  "}, {",nonce", " , nonce"}, {"username", "USERNAME"},
			} {
				a := s.client()
				a.tamper("joe", "secret", change[0], change[1])
				if a.connected {
					a.exists("/", false)
				}
			}
		},
		"messages out of turn": func(s *stage) {
			for _, messages := range [][][]byte{
				{nil}, {[]byte("hello")}, {{}, {}}, {{}, nil}, {{}, []byte("hello")}, {{}, []byte("=")}, {{}, []byte("a=\"")},
			} {
				a := s.client()
				for _, m := range messages {
					a.sasl(m)
				}
				if a.connected {
					a.exists("/", false)
				}
			}
			a := s.client()
			a.authenticate("joe", "secret")
			a.sasl([]byte{})
			b := s.client()
			b.do(wire.OpSASL)
		},
	} {
		t.Run(name, func(t *testing.T) { compare(t, srv, script, users...) })
	}
	conform(t, "without users", func(s *stage) {
		a := s.client()
		for _, m := range [][]byte{{}, []byte("hello")} {
			a.sasl(m)
			a.exists("/", false)
		}
	})
}

// The real server also accepts digest, by which wipe authenticates.
func TestRequiredSASLConforms(t *testing.T) {
	srv := zkserver.Start(t, append(realServerOptions(),
		zkserver.WithSASLUsers(t, map[string]string{"joe": "secret"}),
		zkserver.WithJVMFlags("-Dzookeeper.enforce.auth.enabled=true", "-Dzookeeper.enforce.auth.schemes=sasl,digest"))...)
	users := []Option{WithSASLUser("joe", "secret"), zkinside.With(zkinside.Settings{RequiredSASL: true}).(Option)}
	for name, script := range map[string]func(s *stage){
		"before authentication": func(s *stage) {
			for _, op := range []wire.Op{wire.OpGetData, wire.OpCloseSession, wire.Op(99), wire.OpCreate} {
				a := s.client()
				a.do(op, "/", false)
				if op != wire.OpCloseSession {
					a.awaitEnd()
				}
				a.reconnect()
				a.authenticate("joe", "secret")
				a.exists("/", false)
			}
			a := s.client()
			a.sendXid(wire.XidPing, wire.OpPing)
			a.hear(wire.OpPing, wire.XidPing, "ping")
			a.awaitEnd()
			a.reconnect()
			a.sasl([]byte{})
			a.exists("/", false)
			a.awaitEnd()
			a.reconnect()
			a.authenticate("joe", "wrong")
			a.reconnect()
			a.authenticate("joe", "secret")
		},
	} {
		t.Run(name, func(t *testing.T) { compare(t, srv, script, users...) })
	}
}

// sasl sends one message of an exchange, and returns the server's. It writes down what
// kind of message that is: challenges have random parts.
func (p *player) sasl(message []byte) []byte {
	p.stage.t.Helper()
	if !p.connected {
		return nil
	}
	xid := p.send(wire.OpSASL, message)
	r, alive := p.next()
	if !alive {
		p.note("sasl: closed")
		return nil
	}
	if r.code != wire.OK { // what follows the code, no client reads
		p.note("sasl: %d error %d %t", r.zxid, r.code, r.xid == xid)
		p.awaitEnd()
		return nil
	}
	answer := r.body.Buffer()
	kind := "none"
	switch {
	case r.body.Err != nil:
		kind = "no buffer"
	case strings.HasPrefix(string(answer), "rspauth="):
		kind = "proof"
	case len(answer) > 0:
		kind = "challenge"
	}
	p.note("sasl: %d %s %t %d", r.zxid, kind, r.xid == xid, len(r.body.Buf))
	return answer
}

// authenticate is a whole exchange.
func (p *player) authenticate(user, password string) { p.tamper(user, password, "", "") }

// tamper is a whole exchange with a changed response.
func (p *player) tamper(user, password, from, to string) {
	p.stage.t.Helper()
	e, first, err := sasl.DigestMD5(user, password).Start(p.stage.t.Context(), "")
	require.NoError(p.stage.t, err)
	response, _, err := e.Step(p.sasl(first))
	require.NoError(p.stage.t, err)
	p.note("%s with %.40q for %q", user, to, from)
	proof := p.sasl([]byte(strings.Replace(string(response), from, to, 1)))
	_, done, err := e.Step(proof)
	p.note("authenticated: %t", done && err == nil)
}
