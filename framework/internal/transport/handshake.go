package transport

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/internal/jute"
)

// handshake is what happens on a connection before the library hears that it has a session: the ConnectRequest, the
// ConnectResponse, and authentication, which the library would leave until later.
type handshake struct {
	over     bool
	response []byte           // held back from the library until authentication is over
	auths    map[int32]string // schemes by xid, not answered yet
}

// Credentials are what a client shows the server about who it is.
type Credentials struct {
	Scheme string
	Auth   []byte
}

// AuthError is the server's refusal of credentials. It closes the connection then.
type AuthError struct {
	Scheme string
	Code   int32
}

// Error names the scheme.
func (e *AuthError) Error() string {
	return fmt.Sprintf("server refused the credentials of scheme %q (%d)", e.Scheme, e.Code)
}

// greet sends the ConnectRequest, the first frame of a connection. In it the library tells the server the newest zxid
// that it has seen, lest it be connected to a server that is further behind. It has not seen the answers to our calls,
// so the newest of those is put in its place.
func (c *Conn) greet(frame []byte) error {
	r, err := parseConnectRequest(frame[lengthSize:])
	if err != nil {
		return err
	}
	c.asked, c.askedAt, c.greeted = r.session, time.Now(), true
	at := len(c.out) + lengthSize + zxidInConnectRequest
	c.out = append(c.out, frame...)
	if seen := int64(binary.BigEndian.Uint64(c.out[at:])); seen < c.link.lastZxid {
		binary.BigEndian.PutUint64(c.out[at:], uint64(c.link.lastZxid))
	}
	return nil
}

const zxidInConnectRequest = 4 // behind the protocol version

// shakeHands looks at a frame that arrives before the handshake is over.
func (c *Conn) shakeHands(frame []byte) ([]byte, error) {
	if c.handshake.response == nil {
		return c.welcomed(frame)
	}
	r, err := parseReply(frame[lengthSize:])
	if err != nil {
		return nil, err
	}
	scheme, ours := c.handshake.auths[r.xid]
	switch {
	case !ours:
		return nil, errMalformed
	case r.err != 0:
		return nil, &AuthError{scheme, r.err}
	}
	c.answered(r)
	delete(c.handshake.auths, r.xid)
	if len(c.handshake.auths) > 0 {
		return nil, nil
	}
	c.establish()
	return c.handshake.response, nil
}

// welcomed looks at the ConnectResponse. A server that has lost a session should say so, but some answer with a fresh
// one instead (ClickHouse Keeper did), and the library would go on as if nothing had been lost. The client must treat
// that as the end of the session, so the answer is rewritten to what a correct server says.
func (c *Conn) welcomed(frame []byte) ([]byte, error) {
	r, err := parseConnectResponse(frame[lengthSize:])
	if err != nil {
		return nil, err
	}
	if !c.accept(r) {
		clear(frame[lengthSize+4 : lengthSize+handshakeSize]) // timeout and session id
		return frame, nil
	}
	if c.link.cfg.Accepted != nil {
		c.link.cfg.Accepted()
	}
	if c.authenticate() {
		c.handshake.response = bytes.Clone(frame)
		return nil, nil
	}
	c.establish()
	return frame, nil
}

// accept reports whether the server has given us the session that we asked for.
func (c *Conn) accept(r connectResponse) bool {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if r.session == 0 || c.asked != 0 && r.session != c.asked {
		return false
	}
	c.link.timeout = time.Duration(r.timeoutMillis) * time.Millisecond
	c.link.contactLocked(c.askedAt)
	return true
}

// authenticate sends all credentials, if there are any. Requests that follow would be refused without them.
func (c *Conn) authenticate() bool {
	if c.link.cfg.Credentials == nil {
		return false
	}
	all := c.link.cfg.Credentials()
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.handshake.auths = map[int32]string{}
	for _, cred := range all {
		r := request{xid: c.link.nextOwnXid(), op: opSetAuth}
		c.out = appendRequest(c.out, r, cred.Payload)
		c.clock.sent(r, time.Now())
		c.handshake.auths[r.xid] = cred.Scheme
	}
	c.signal()
	return len(all) > 0
}

// Payload appends the body of an auth request.
func (c Credentials) Payload(b []byte) []byte {
	b = jute.AppendInt32(b, 0) // the type, which is always this
	return jute.AppendBuffer(jute.AppendString(b, c.Scheme), c.Auth)
}

// establish lets requests pass, behind the watches.
func (c *Conn) establish() {
	c.handshake.over = true
	c.withWatches(func(watches []SetWatch) {
		c.link.mu.Lock()
		defer c.link.mu.Unlock()
		c.restoreLocked(watches)
		c.established = true
		if c.link.cfg.Strict && !c.link.closed {
			c.link.conns.Go(c.confirmContact)
		}
	})
	c.signal()
}

func (c *Conn) withWatches(set func([]SetWatch)) {
	if c.link.cfg.Watches == nil {
		set(nil)
		return
	}
	c.link.cfg.Watches(set)
}

// handshakeFailed says why there is no session on this connection.
func (c *Conn) handshakeFailed(err error) {
	if !c.handshake.over && c.link.cfg.Failed != nil {
		c.link.cfg.Failed(fmt.Errorf("handshake with %v: %w", c.RemoteAddr(), err))
	}
}

func frameLength(frame []byte) int { return int(int32(binary.BigEndian.Uint32(frame))) }
