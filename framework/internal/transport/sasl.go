package transport

import (
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/sasl"
)

// SASL is the exchange by which one connection authenticates. The exchange ends before
// any request other than the ConnectRequest is sent, because a server that requires
// authentication refuses even a ping.
type SASL struct {
	Mechanism sasl.Mechanism
	Exchange  sasl.Exchange
	First     []byte // the message that the client sends first

	done bool // the exchange ends once the server accepts the last message
}

// answered takes the server's answer to the last message, and returns the next
// message. It returns nil when the client is authenticated.
func (s *SASL) answered(r reply) (next []byte, err error) {
	if r.Code != proto.CodeOK {
		return nil, s.refused(r.Code, nil)
	}
	if s.done {
		return nil, nil
	}
	body := jute.NewReader(r.body)
	challenge := body.Buffer()
	if body.Bad() {
		return nil, errMalformed
	}
	next, s.done, err = s.Exchange.Step(challenge)
	if err == nil && next == nil && !s.done {
		err = errors.New("the mechanism has no response")
	}
	if err != nil {
		return nil, s.refused(0, err)
	}
	return next, nil
}

func (s *SASL) refused(code int32, err error) error {
	return &sasl.Error{Mechanism: s.Mechanism.Name(), Principal: s.Mechanism.Principal(), Code: code, Err: err}
}

// saslPayload returns a function that appends the body of a SASL request. A nil message
// is sent as an empty one, because servers end the connection on null.
func saslPayload(message []byte) func([]byte) []byte {
	return func(b []byte) []byte { return jute.AppendString(b, string(message)) }
}

// sendSASL sends a message of the exchange. It is not counted as contact: servers do
// not renew the session with it.
func (c *Conn) sendSASL(message []byte) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.handshake.saslXid = c.link.nextOwnXid()
	c.out = appendRequest(c.out, proto.RequestHeader{Xid: c.handshake.saslXid, Op: proto.OpSASL}, saslPayload(message))
	c.signal()
}

// handleSASL takes the server's answer and continues the exchange or the handshake.
func (c *Conn) handleSASL(r reply) ([]byte, error) {
	if r.Xid != c.handshake.saslXid {
		return nil, errMalformed
	}
	c.handshake.saslXid = 0
	next, err := c.sasl.answered(r)
	if err != nil {
		return nil, err
	}
	if next != nil {
		c.sendSASL(next)
		return nil, nil
	}
	response := c.handshake.response
	c.handshake.response = nil
	return c.sessionGranted(response)
}

// interrupted returns the error of a connection that has ended during the exchange.
func (s *SASL) interrupted(err error) error {
	return fmt.Errorf("during SASL %s as %q: %w", s.Mechanism.Name(), s.Mechanism.Principal(), err)
}

// authenticate is the exchange on a connection that ends a session.
func (e *endingConn) authenticate(s *SASL) error {
	if s == nil {
		return nil
	}
	for next := s.First; ; {
		r, err := e.exchange(proto.OpSASL, saslPayload(next))
		if err == nil {
			next, err = s.answered(r)
		}
		if err != nil || next == nil {
			return err
		}
	}
}
