package sasl

import (
	"context"
	"crypto/md5"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// DigestMD5 returns the mechanism DIGEST-MD5 (RFC 2831) for a user in the server's JAAS
// file, such as user_joe="secret" in its section Server. The server chooses the realm.
// The quality of protection is "auth": nothing is encrypted. The user and the password
// may have any characters of UTF-8.
//
// The password does not cross the network, and no error or text of the mechanism
// contains it. The server also proves that it knows the password. An attacker who
// records the exchange can guess weak passwords offline: RFC 6331 declares DIGEST-MD5
// historic. Combine DigestMD5 with framework.WithTLS, or use Kerberos.
//
// Access control lists name the client by the scheme "sasl" and the id user.
func DigestMD5(user, password string) Mechanism {
	return &digestMD5{user, func() string { return password }, rand.Text}
}

type digestMD5 struct {
	user     string
	password func() string // as a function, no verb of package fmt prints it
	cnonce   func() string // a new one for each exchange
}

// The names of the service in digest-uri are the same for all of ZooKeeper's servers
// (ZooKeeperSaslClient).
const digestURI = "zookeeper/zk-sasl-md5"

// nonceCount counts the uses of a nonce: the client never uses one again.
const nonceCount = "00000001"

// longestChallenge is a length in bytes, and the JDK's limit.
const longestChallenge = 2048

func (m *digestMD5) Name() string      { return "DIGEST-MD5" }
func (m *digestMD5) Principal() string { return m.user }

// Format keeps the password out of logs, whatever the verb.
func (m *digestMD5) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "DIGEST-MD5 as %q", m.user) }

func (m *digestMD5) Start(context.Context, string) (Exchange, []byte, error) {
	return &digestExchange{mechanism: m}, []byte{}, nil
}

// digestExchange is one exchange: a challenge with a nonce, the client's response, and
// the server's proof.
type digestExchange struct {
	mechanism *digestMD5
	proof     string // what the server must send as rspauth; empty before the response
	over      bool
}

func (e *digestExchange) Step(challenge []byte) (response []byte, done bool, err error) {
	if e.over {
		return nil, false, errors.New("the server continues after the end of the exchange")
	}
	if challenge == nil {
		return nil, false, errors.New("the server sent no message: its SASL is not configured, or it refused in silence")
	}
	directives, err := parseDirectives(challenge)
	if err != nil {
		return nil, false, err
	}
	if e.proof != "" {
		e.over = true
		return nil, true, e.checkProof(directives)
	}
	response, err = e.respond(directives)
	return response, false, err
}

func (e *digestExchange) checkProof(directives map[string]string) error {
	if subtle.ConstantTimeCompare([]byte(directives["rspauth"]), []byte(e.proof)) != 1 {
		return errors.New("the server did not prove that it knows the password")
	}
	return nil
}

// respond writes the directives in the order of the JDK's client.
func (e *digestExchange) respond(challenge map[string]string) ([]byte, error) {
	charset, isUTF8 := challenge["charset"]
	qop, hasQop := challenge["qop"]
	realm, hasRealm := challenge["realm"]
	nonce := challenge["nonce"]
	switch {
	case nonce == "":
		return nil, errors.New("the challenge has no nonce")
	case challenge["algorithm"] != "md5-sess":
		return nil, fmt.Errorf("the challenge is for the algorithm %q instead of md5-sess", challenge["algorithm"])
	case isUTF8 && charset != "utf-8":
		return nil, fmt.Errorf("the challenge is for the charset %q instead of utf-8", charset)
	case hasQop && !slices.ContainsFunc(strings.Split(qop, ","), isAuth):
		return nil, fmt.Errorf("the server requires a quality of protection of %q; use TLS instead", qop)
	}
	user := e.mechanism.user
	if !isUTF8 {
		var ok bool
		if user, ok = latin1(user); !ok {
			return nil, errors.New("the server does not accept the characters of the user's name")
		}
	}
	cnonce := e.mechanism.cnonce()
	secret := e.secret(realm, nonce, cnonce, user)
	e.proof = digest(secret, nonce, cnonce, "")

	var b strings.Builder
	if isUTF8 {
		b.WriteString("charset=utf-8,")
	}
	fmt.Fprintf(&b, "username=%s,", quote(user))
	if hasRealm {
		fmt.Fprintf(&b, "realm=%s,", quote(realm))
	}
	fmt.Fprintf(&b, "nonce=%s,nc=%s,cnonce=%s,digest-uri=%s,maxbuf=65536,response=%s,qop=auth,authzid=%s",
		quote(nonce), nonceCount, quote(cnonce), quote(digestURI),
		digest(secret, nonce, cnonce, "AUTHENTICATE"), quote(user))
	return []byte(b.String()), nil
}

func isAuth(qop string) bool { return strings.TrimSpace(qop) == "auth" }

// secret returns H(A1) of RFC 2831. Each of the parts is hashed in ISO 8859-1 if it
// can be, as by the JDK.
func (e *digestExchange) secret(realm, nonce, cnonce, authzid string) string {
	hashed := func(s string) string {
		s, _ = latin1(s)
		return s
	}
	user := md5.Sum([]byte(hashed(e.mechanism.user) + ":" + hashed(realm) + ":" + hashed(e.mechanism.password())))
	return hash(string(user[:]) + ":" + nonce + ":" + cnonce + ":" + authzid)
}

// digest returns the response value of RFC 2831. The method is "AUTHENTICATE" for the
// client, and empty for the server.
func digest(secret, nonce, cnonce, method string) string {
	return hash(secret + ":" + nonce + ":" + nonceCount + ":" + cnonce + ":auth:" + hash(method+":"+digestURI))
}

func hash(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// latin1 returns s in ISO 8859-1, or s itself and false if a character is missing
// there.
func latin1(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return s, false
		}
		b = append(b, byte(r))
	}
	return string(b), true
}

var quoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func quote(s string) string { return `"` + quoted.Replace(s) + `"` }

// parseDirectives parses a message of the server: a list of directives such as
// name=value or name="value". Only the realm may occur more than once, and then the
// first one counts.
func parseDirectives(message []byte) (map[string]string, error) {
	if len(message) > longestChallenge {
		return nil, fmt.Errorf("the server's message of %d bytes is longer than %d", len(message), longestChallenge)
	}
	directives := map[string]string{}
	for rest := string(message); ; {
		if rest = strings.TrimLeft(rest, ", \t\r\n"); rest == "" {
			return directives, nil
		}
		name, value, found := strings.Cut(rest, "=")
		if name = strings.ToLower(strings.TrimSpace(name)); !found || strings.ContainsAny(name, "\", \t\r\n") || name == "" {
			return nil, errMalformed
		}
		var ok bool
		if value, rest, ok = cutValue(strings.TrimLeft(value, " \t\r\n")); !ok {
			return nil, errMalformed
		}
		if _, twice := directives[name]; !twice {
			directives[name] = value
		} else if name != "realm" {
			return nil, fmt.Errorf("the server's message has %q twice", name)
		}
	}
}

var errMalformed = errors.New("the server's message is malformed")

// cutValue returns the value at the beginning of s, unquoted, and the text after the
// next comma.
func cutValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s, ",")
		value = strings.TrimSpace(value)
		return value, rest, value != "" && !strings.ContainsAny(value, "\" \t\r\n=")
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
