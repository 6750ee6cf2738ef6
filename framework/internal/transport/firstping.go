package transport

import (
	"bytes"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
)

// firstPing is a ping that the handshake sends for a new session that took long
// to create, as on servers whose disks are slow.
//
// As far as the client knows, the session's timeout has counted since the
// session was requested, and it may run out before the library sends its first
// ping. When the handshake's own ping is answered, the timeout counts from that
// ping.
//
// With Config.LeaderConfirmed there is no such ping, because any server answers
// a ping by itself.
type firstPing struct {
	sent    time.Time
	timeout time.Duration // the session's
}

// sendFirstPing sends the ping. The library gets the ConnectResponse only after
// the ping is answered.
func (c *Conn) sendFirstPing(response []byte, timeout time.Duration) {
	c.handshake.response = bytes.Clone(response)
	c.handshake.ping = &firstPing{c.link.cfg.Clock(), timeout}
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.out = appendRequest(c.out, proto.RequestHeader{Xid: proto.XidPing, Op: proto.OpPing}, noPayload)
	c.signal()
}

// handleFirstPing takes the answer to the ping and goes on with the handshake.
func (c *Conn) handleFirstPing(r reply) ([]byte, error) {
	if r.Xid != proto.XidPing || r.Code != 0 {
		return nil, errMalformed
	}
	p, response := c.handshake.ping, c.handshake.response
	c.handshake.ping, c.handshake.response = nil, nil
	return c.sessionAccepted(response, p.sent, p.timeout)
}
