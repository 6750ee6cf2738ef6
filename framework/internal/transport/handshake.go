package transport

import (
	"encoding/binary"
	"maps"
	"time"
)

// handshakeSent looks at the ConnectRequest, the first frame of a connection.
func (c *Conn) handshakeSent(frame []byte) error {
	r, err := parseConnectRequest(frame[lengthSize:])
	if err != nil {
		return err
	}
	c.asked, c.askedAt, c.greeted = r.session, time.Now(), true
	c.out = append(c.out, frame...)
	c.seenBefore = c.link.lastZxid
	c.raiseZxid(c.out, zxidInConnectRequest)
	return nil
}

// handshakeAnswered looks at the ConnectResponse. A server that has lost a session should say so, but some answer with
// a fresh one instead (ClickHouse Keeper did), and the library would go on as if nothing had been lost. The client
// must treat that as the end of the session, so the answer is rewritten to what a correct server says.
func (c *Conn) handshakeAnswered(frame []byte) error {
	r, err := parseConnectResponse(frame[lengthSize:])
	if err != nil {
		return err
	}
	if c.asked != 0 && r.session != c.asked {
		clear(frame[lengthSize+4 : lengthSize+handshakeSize]) // timeout and session id
		return nil
	}
	if r.session == 0 {
		return nil
	}
	c.established = true
	c.link.timeout = time.Duration(r.timeoutMillis) * time.Millisecond
	c.link.contact = c.askedAt
	c.gate.missing = maps.Clone(c.link.watches)
	if c.gate.open() {
		c.withdrawLocked()
	}
	return nil
}

func frameLength(frame []byte) int { return int(int32(binary.BigEndian.Uint32(frame))) }
