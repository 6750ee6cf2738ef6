package transport

import (
	"bytes"
	"time"
)

// firstPing is a ping of a new session that took long to create, as on servers whose
// disks are slow. The session's time counts from when it was asked for, for all
// that is known, and it may be over before the library sends its first ping. So
// the handshake has one of its own, and the time counts from there.
//
// Strict contact has no use for it: a ping needs nobody but the server at the
// other end.
type firstPing struct {
	sent    time.Time
	timeout time.Duration // of the session
}

const (
	opPing  = 11
	xidPing = -2 // servers answer every ping with this
)

// pingFirst sends the ping. The response is held back until it is answered.
func (c *Conn) sendFirstPing(response []byte, timeout time.Duration) {
	c.handshake.response = bytes.Clone(response)
	c.handshake.ping = &firstPing{time.Now(), timeout}
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.out = appendRequest(c.out, request{xid: xidPing, op: opPing}, noPayload)
	c.signal()
}

// handleFirstPing goes on with the handshake.
func (c *Conn) handleFirstPing(r reply) ([]byte, error) {
	if r.xid != xidPing || r.err != 0 {
		return nil, errMalformed
	}
	p, response := c.handshake.ping, c.handshake.response
	c.handshake.ping, c.handshake.response = nil, nil
	return c.sessionAccepted(response, p.sent, p.timeout)
}
