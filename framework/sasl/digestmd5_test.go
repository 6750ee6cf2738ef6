package sasl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recording is one line of testdata/digest-md5.jsonl, which testdata/Record.java has
// recorded from the JDK. Messages have a character for each byte.
type recording struct {
	Kind, Name, User, Password string
	Challenge, Response, Proof string
	Error                      string
}

func recordings(t testing.TB, kind string) []recording {
	data, err := os.ReadFile("testdata/digest-md5.jsonl")
	require.NoError(t, err)
	var all []recording
	for line := range bytes.Lines(data) {
		var r recording
		require.NoError(t, json.Unmarshal(line, &r))
		if r.Kind == kind {
			all = append(all, r)
		}
	}
	require.NotEmpty(t, all)
	return all
}

// wire returns the bytes of a recorded message.
func wire(message string) []byte {
	b, _ := latin1(message)
	return []byte(b)
}

// begin returns an exchange with the random part of a recorded response.
func (r recording) begin(t testing.TB) Exchange {
	m := DigestMD5(r.User, r.Password).(*digestMD5)
	if directives, err := parseDirectives(wire(r.Response)); err == nil {
		m.cnonce = func() string { return directives["cnonce"] }
	}
	e, first, err := m.Start(t.Context(), "zk1")
	require.NoError(t, err)
	require.Empty(t, first)
	require.NotNil(t, first, "ZooKeeper's client sends an empty message first")
	return e
}

// Promise: DigestMD5 sends what Java's client sends, byte for byte.
func TestExchangeIsTheOneOfTheJDK(t *testing.T) {
	for _, r := range recordings(t, "exchange") {
		e := r.begin(t)
		response, done, err := e.Step(wire(r.Challenge))
		require.NoError(t, err)
		require.False(t, done)
		require.Equal(t, r.Response, characters(response))
		response, done, err = e.Step(wire(r.Proof))
		require.NoError(t, err)
		require.True(t, done)
		require.Nil(t, response)

		_, done, err = e.Step(wire(r.Proof))
		require.Error(t, err, "the exchange is over")
		require.False(t, done)
	}
}

func characters(message []byte) string {
	var b strings.Builder
	for _, c := range message {
		b.WriteRune(rune(c))
	}
	return b.String()
}

// Promise: DigestMD5 accepts the challenges that Java's client accepts, and refuses the others.
func TestChallengesAreAcceptedAsByTheJDK(t *testing.T) {
	for _, r := range recordings(t, "challenged") {
		response, done, err := r.begin(t).Step(wire(r.Challenge))
		require.False(t, done)
		require.Equal(t, r.Error != "", err != nil, "%s: %v, and the JDK: %q", r.Challenge, err, r.Error)
		require.Equal(t, r.Response, characters(response))
	}
}

// Promise: a server that does not know the password is not trusted.
func TestServerThatProvesNothingIsRefused(t *testing.T) {
	all := recordings(t, "exchange")
	for name, proof := range map[string][]byte{
		"of another exchange": wire(all[1].Proof), // of the same user
		"our own response":    []byte("rspauth=" + responseOf(t, all[0])),
		"empty":               []byte("rspauth="),
		"none":                {},
		"null":                nil,
		"another challenge":   wire(all[0].Challenge),
		"short":               []byte(all[0].Proof[:len(all[0].Proof)-1]),
	} {
		e := all[0].begin(t)
		_, _, err := e.Step(wire(all[0].Challenge))
		require.NoError(t, err)
		_, _, err = e.Step(proof)
		require.Error(t, err, name)
	}
}

func responseOf(t *testing.T, r recording) string {
	directives, err := parseDirectives(wire(r.Response))
	require.NoError(t, err)
	return directives["response"]
}

func TestServerWithoutUTF8IsNotSentACharacterThatItCannotRead(t *testing.T) {
	const challenge = `realm="r",nonce="n",algorithm=md5-sess`
	response, _, err := recording{User: "m\u00fcller"}.begin(t).Step([]byte(challenge))
	require.NoError(t, err)
	require.Contains(t, string(response), "username=\"m\xfcller\"")
	_, _, err = recording{User: "\u4e2d"}.begin(t).Step([]byte(challenge))
	require.Error(t, err)
}

func TestLongChallengeIsRefused(t *testing.T) {
	const challenge = `nonce="n",algorithm=md5-sess,`
	fill := strings.Repeat(",", longestChallenge-len(challenge))
	_, _, err := recording{User: "joe"}.begin(t).Step([]byte(challenge + fill))
	require.NoError(t, err)
	_, _, err = recording{User: "joe"}.begin(t).Step([]byte(challenge + fill + ","))
	require.Error(t, err)
}

// Each exchange has its own random part: otherwise a recorded proof would do.
func TestClientNonceIsNew(t *testing.T) {
	m := DigestMD5("joe", "secret")
	const challenge = `nonce="n",algorithm=md5-sess`
	seen := map[string]bool{}
	for range 10 {
		e, _, err := m.Start(t.Context(), "zk1")
		require.NoError(t, err)
		response, _, err := e.Step([]byte(challenge))
		require.NoError(t, err)
		seen[string(response)] = true
	}
	require.Len(t, seen, 10)
}

// Promise: the password is not in a log, whatever is printed.
func TestPasswordIsNotPrinted(t *testing.T) {
	m := DigestMD5("joe", "open sesame")
	e, _, err := m.Start(t.Context(), "zk1")
	require.NoError(t, err)
	_, _, bad := e.Step([]byte("open sesame"))
	require.Error(t, bad)
	for _, v := range []any{m, struct{ m Mechanism }{m}, &struct{ M Mechanism }{m}, []Mechanism{m}, e, bad,
		&Error{Mechanism: m.Name(), Principal: m.Principal(), Err: bad}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%p"} {
			require.NotContains(t, fmt.Sprintf(verb, v), "sesame", verb)
		}
	}
	require.Equal(t, `DIGEST-MD5 as "joe"`, fmt.Sprint(m))
}

func TestErrorNamesWhoWasRefusedAndWhy(t *testing.T) {
	cause := fmt.Errorf("no proof")
	require.EqualError(t, &Error{"DIGEST-MD5", "joe", -115, nil},
		`SASL DIGEST-MD5 as "joe": the server refused (-115): user, password or ticket may be wrong`)
	require.EqualError(t, &Error{Code: -124},
		"the server requires authentication (-124): set framework.WithSASL or framework.WithAuth")
	err := &Error{"DIGEST-MD5", "joe", 0, cause}
	require.EqualError(t, err, `SASL DIGEST-MD5 as "joe": no proof`)
	require.ErrorIs(t, err, cause)
}

// FuzzChallenge lets any server speak. The client must not panic, and must not
// trust a server that has no password.
func FuzzChallenge(f *testing.F) {
	for _, r := range append(recordings(f, "challenged"), recordings(f, "exchange")...) {
		f.Add(wire(r.Challenge), wire(r.Proof))
	}
	f.Fuzz(func(t *testing.T, challenge, proof []byte) {
		if directives, err := parseDirectives(challenge); err == nil {
			for _, value := range directives {
				again, err := parseDirectives([]byte("x=" + quote(value)))
				if err != nil && len(value) < longestChallenge/2-10 || err == nil && again["x"] != value {
					t.Errorf("%q is quoted as %s: %q, %v", value, quote(value), again, err)
				}
			}
		}
		e, _, err := DigestMD5("joe", "secret").Start(t.Context(), "zk1")
		require.NoError(t, err)
		response, done, err := e.Step(challenge)
		if done || (err == nil) != (response != nil) {
			t.Fatalf("%q, %v, %v", response, done, err)
		}
		if _, _, again := e.Step(proof); err == nil && again == nil {
			t.Errorf("a server without the password is trusted: %q", proof)
		}
	})
}
