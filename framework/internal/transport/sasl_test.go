package transport

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/sasl"
)

// script is a mechanism whose steps are functions, and its own exchange.
type script []func(challenge []byte) (response []byte, done bool, err error)

func (script) Name() string      { return "SCRIPT" }
func (script) Principal() string { return "joe" }
func (s script) Start(context.Context, string) (sasl.Exchange, []byte, error) {
	return &s, []byte("hello"), nil
}

func (s *script) Step(challenge []byte) ([]byte, bool, error) {
	step := (*s)[0]
	*s = (*s)[1:]
	return step(challenge)
}

func more(response string) func([]byte) ([]byte, bool, error) {
	return func([]byte) ([]byte, bool, error) { return []byte(response), false, nil }
}

func last(response []byte) func([]byte) ([]byte, bool, error) {
	return func([]byte) ([]byte, bool, error) { return response, true, nil }
}

func (s script) exchange(t *testing.T) *SASL {
	e, first, err := s.Start(t.Context(), "")
	require.NoError(t, err)
	return &SASL{Mechanism: s, Exchange: e, First: first}
}

// Promise: the library has a session when the server has accepted the last message of
// SASL, and not before.
func TestSASLEndsWhenTheServerHasAcceptedTheLastMessage(t *testing.T) {
	ok := func(xid int, message string) []byte { return answerFrame(xid, 0, 0, message) }
	null := func(xid int) []byte { return answerFrame(xid, 0, 0, -1) }
	const first, second, third = firstOwnXid, firstOwnXid + 1, firstOwnXid + 2
	for name, tc := range map[string]struct {
		script  script
		answers [][]byte
		refused int32 // the server's code
		err     error
	}{
		"one step":              {script{last(nil)}, [][]byte{ok(first, "x")}, 0, nil},
		"two steps":             {script{more("a"), last(nil)}, [][]byte{ok(first, "x"), ok(second, "y")}, 0, nil},
		"a response at the end": {script{more("a"), last([]byte("b"))}, [][]byte{ok(first, "x"), ok(second, "y"), null(third)}, 0, nil},
		"an empty response":     {script{last([]byte{})}, [][]byte{ok(first, "x"), null(second)}, 0, nil},
		"refused at first":      {script{}, [][]byte{answerFrame(first, 0, -115)}, -115, errRefusedSASL},
		"refused with a body":   {script{}, [][]byte{answerFrame(first, 0, -124, -1)}, -124, errRefusedSASL},
		"refused at the end":    {script{last([]byte("b"))}, [][]byte{ok(first, "x"), answerFrame(second, 0, -115)}, -115, errRefusedSASL},
		"nothing to say":        {script{func([]byte) ([]byte, bool, error) { return nil, false, nil }}, [][]byte{ok(first, "x")}, 0, errRefusedSASL},
		"another xid":           {script{}, [][]byte{ok(second, "x")}, 0, errMalformed},
		"the same xid again":    {script{more("a")}, [][]byte{ok(first, "x"), ok(first, "y")}, 0, errMalformed},
		"an event":              {script{}, [][]byte{answerFrame(proto.XidNotification, 0, 0, 1, 3, "/n")}, 0, errMalformed},
		"no message":            {script{}, [][]byte{answerFrame(first, 0, 0)}, 0, errMalformed},
		"half a message":        {script{}, [][]byte{answerFrame(first, 0, 0, 5, []byte("x"))}, 0, errMalformed},
		"an impossible length":  {script{}, [][]byte{answerFrame(first, 0, 0, -2)}, 0, errMalformed},
		"a long message":        {script{}, [][]byte{ok(first, string(make([]byte, maxHandshakeFrame)))}, 0, errMalformed},
		"the end":               {script{}, nil, 0, errInterruptedSASL},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var failed error
				client, server := net.Pipe()
				l := NewLink(Config{Failed: func(err error) { failed = err }})
				c := l.Wrap(client, time.Now().Add(10*time.Second), tc.script.exchange(t)).(*Conn)
				p := newPeer(t, server)
				defer func() { c.Close(); server.Close(); l.Close() }()
				go c.Write(connectFrame(7))
				p.read()
				go func() {
					p.write(connectAnswer(9*time.Second, 7))
					for _, answer := range tc.answers {
						if p.read() == nil {
							return
						}
						p.write(answer)
					}
					if tc.err != nil {
						p.read()
						server.Close()
					}
				}()
				_, err := c.readAll()
				var refused *sasl.Error
				switch {
				case tc.err == nil:
					require.NoError(t, err)
					require.NoError(t, failed)
					_, isHeld := l.Held()
					require.True(t, isHeld)
					return
				case errors.Is(tc.err, errRefusedSASL):
					require.ErrorAs(t, err, &refused)
					require.Equal(t, "SCRIPT", refused.Mechanism)
					require.Equal(t, "joe", refused.Principal)
					require.Equal(t, tc.refused, refused.Code)
				case errors.Is(tc.err, errInterruptedSASL):
					require.ErrorContains(t, failed, "during SASL")
				default:
					require.ErrorIs(t, err, tc.err)
				}
				require.Error(t, failed)
				_, isHeld := l.Held()
				require.False(t, isHeld)
				_, timeout := l.LastContact()
				require.Zero(t, timeout, "the session is not the client's yet")
			})
		})
	}
}

var (
	errRefusedSASL     = errors.New("refused")
	errInterruptedSASL = errors.New("interrupted")
)

// The message has the form of GetSASLRequest: a buffer.
func TestSASLMessageOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		l := NewLink(Config{})
		c := l.Wrap(client, time.Now().Add(10*time.Second), script{last(nil)}.exchange(t)).(*Conn)
		p := newPeer(t, server)
		defer func() { c.Close(); server.Close(); l.Close() }()
		go c.Write(connectFrame(7))
		p.read()
		go p.write(connectAnswer(9*time.Second, 7))
		go c.readAll()
		require.Equal(t, frame(firstOwnXid, 102, "hello")[4:], p.read())
		require.True(t, p.silent(), "nothing else is sent before the answer")
	})
}
