package zktest

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// saslUsers has the passwords of the DIGEST-MD5 users by name. It is nil if the server does
// not support SASL.
type saslUsers map[string]string

// WithSASLUser makes the server authenticate a user by SASL with DIGEST-MD5 (RFC 2831), like
// a ZooKeeper server with a JAAS file. Use the option once for each user. Access control
// lists can then have the scheme sasl, with the user's name as the id. A server without
// users answers SASL messages with an empty message.
func WithSASLUser(name, password string) Option {
	return func(c *config) {
		if name == "" || strings.Contains(name, "@") { // a name with an @ is a Kerberos principal
			c.reject("a SASL user %q", name)
		}
		if c.sasl == nil {
			c.sasl = saslUsers{}
		}
		c.sasl[name] = password
	}
}

// requiresSASLLocked reports whether the server refuses a request for lack of
// authentication (AuthenticationHelper.enforceAuthentication).
func (x *exchange) requiresSASLLocked() bool {
	return x.srv.cfg.RequiredSASL && !answeredOnTheSpot(x.req.Op) && !x.conn.sasl.succeeded()
}

// answeredOnTheSpot reports whether servers answer a request where they read it. Such
// a request does not touch the session, and its answer has no zxid
// (ZooKeeperServer.processPacket).
func answeredOnTheSpot(op wire.Op) bool { return op == wire.OpAuth || op == wire.OpSASL }

// saslOp is the request sasl: a message of a SASL exchange.
type saslOp struct {
	pathless
	message []byte
}

func decodeSASL(d *wire.Decoder) operation {
	op := &saslOp{message: d.Buffer()}
	if op.message == nil {
		d.Err = wire.ErrMalformed
	}
	return op
}

func (o *saslOp) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	users := x.srv.cfg.sasl
	if users == nil { // in ZooKeeper, a NullPointerException that the server catches
		out.Buffer(nil)
		return wire.OK
	}
	if x.conn.sasl == nil {
		x.conn.sasl = &digestServer{}
	}
	answer, ok := x.conn.sasl.step(users, string(o.message))
	if !ok {
		x.last = true
		if x.srv.cfg.RequiredSASL {
			return wire.ErrSessionRequiresSASL
		}
		return wire.ErrAuthFailed
	}
	if user := x.conn.sasl.user; user != "" {
		x.conn.addIDLocked(wire.ID{Scheme: "sasl", ID: user})
	}
	out.Buffer([]byte(answer))
	return wire.OK
}

// digestServer is the server's side of DIGEST-MD5 on one connection.
type digestServer struct {
	nonce string // empty before the challenge
	over  bool   // after the response
	user  string // the authenticated user, or empty
}

func (s *digestServer) succeeded() bool { return s != nil && s.user != "" }

// These are the names that ZooKeeper's servers use for themselves.
const (
	saslRealm = "zk-sasl-md5"
	saslURI   = "zookeeper/" + saslRealm
)

// longestSASLResponse is the longest accepted response in bytes (DigestMD5Server).
const longestSASLResponse = 4096

// step takes the client's message and returns the answer. It returns false if the
// authentication has failed.
func (s *digestServer) step(users saslUsers, message string) (answer string, ok bool) {
	switch {
	case s.nonce == "": // the first message may have any content
		s.nonce = rand.Text()
		return `realm="` + saslRealm + `",nonce="` + s.nonce + `",charset=utf-8,algorithm=md5-sess`, true
	case s.over || len(message) > longestSASLResponse:
		return "", false
	}
	s.over = true
	r, ok := parseDigestResponse(message)
	if !ok {
		return "", false
	}
	name := r["username"]
	if r["charset"] == "" {
		name = fromLatin1(name)
	}
	password, known := users[name]
	expected := func(method string) string { return r.digest(name, password, method) }
	switch {
	case !known, r["realm"] != saslRealm, r["nonce"] != s.nonce, r["cnonce"] == "",
		r["charset"] != "utf-8" && r["charset"] != "", r["digest-uri"] != saslURI, r["qop"] != "auth" && r["qop"] != "",
		subtle.ConstantTimeCompare([]byte(r["response"]), []byte(expected("AUTHENTICATE"))) != 1:
		return "", false
	}
	s.user = name
	return "rspauth=" + expected(""), true
}

// digestResponse has the directives of a client's response by their names.
type digestResponse map[string]string

// digest returns the client's proof that it knows the password. With an empty method,
// digest returns the server's proof.
func (r digestResponse) digest(user, password, method string) string {
	sum := md5.Sum([]byte(toLatin1(user) + ":" + saslRealm + ":" + toLatin1(password)))
	a1 := string(sum[:]) + ":" + r["nonce"] + ":" + r["cnonce"]
	if authzid, ok := r["authzid"]; ok {
		a1 += ":" + authzid
	}
	return hexMD5(hexMD5(a1) + ":" + r["nonce"] + ":00000001:" + r["cnonce"] + ":auth:" + hexMD5(method+":"+saslURI))
}

func hexMD5(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// toLatin1 returns s in ISO 8859-1, or s itself if ISO 8859-1 lacks one of its characters.
func toLatin1(s string) string {
	var b []byte
	for _, r := range s {
		if r > 0xff {
			return s
		}
		b = append(b, byte(r))
	}
	return string(b)
}

func fromLatin1(s string) string {
	var b []byte
	for i := range len(s) {
		b = utf8.AppendRune(b, rune(s[i]))
	}
	return string(b)
}

// parseDigestResponse reads directives of the form name=value or name="value", separated by
// commas.
func parseDigestResponse(s string) (digestResponse, bool) {
	r := digestResponse{}
	for {
		if s = strings.TrimLeft(s, ", \t\r\n"); s == "" {
			return r, true
		}
		name, rest, found := strings.Cut(s, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		value, rest, ok := cutDigestValue(strings.TrimLeft(rest, " \t\r\n"))
		if _, twice := r[name]; !found || !ok || twice {
			return nil, false
		}
		r[name], s = value, rest
	}
}

// cutDigestValue returns the unquoted value at the beginning of s, and the text after the
// next comma.
func cutDigestValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s, ",")
		return strings.TrimSpace(value), rest, true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			between, rest, _ := strings.Cut(s[i+1:], ",")
			return b.String(), rest, strings.TrimSpace(between) == ""
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}
