package transport

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/sasl"
)

// handshake is the part of a connection's life before the library learns that
// it has a session: the ConnectRequest, the ConnectResponse, and
// authentication, which the library would leave until later.
type handshake struct {
	done     bool
	response []byte           // the ConnectResponse, withheld until the handshake is done
	timeout  time.Duration    // the session's
	saslXid  int32            // of the unanswered SASL message, or 0
	waiting  map[int32]string // schemes of credentials by xid, and the ping without a scheme; the answer removes an entry
}

// Credentials prove to the server who the client is.
type Credentials struct {
	Scheme string
	Auth   []byte
}

// AuthError is the server's refusal of credentials. The server then closes the
// connection.
type AuthError struct {
	Scheme string
	Code   int32
}

// Error returns a message with the scheme and the server's code.
func (e *AuthError) Error() string {
	return fmt.Sprintf("server refused the credentials of scheme %q (%d)", e.Scheme, e.Code)
}

// sendConnectRequest sends the library's ConnectRequest, the first frame of a
// connection. The request names the newest zxid that the library has seen, so that a
// server which is further behind refuses the client. The library has not seen the
// answers to this package's calls, so sendConnectRequest puts in their newest zxid if
// it is larger.
//
// A session without answers could move to a server that is behind the session's
// creator, and so behind the state that the client saw in its previous session.
// Config.Seen prevents that. The request for a new session does not use Config.Seen: an
// ensemble that was restored from an old backup would never grant a session.
func (c *Conn) sendConnectRequest(frame []byte) error {
	r, ok := proto.ReadConnectRequest(frame[proto.LengthSize:])
	if !ok {
		return errMalformed
	}
	c.requestedSession, c.connectSentAt, c.connectSent = r.Session, c.link.cfg.Clock(), true
	at := len(c.out) + proto.LengthSize + connectRequestZxidOffset
	c.out = append(c.out, frame...)
	seen := max(int64(binary.BigEndian.Uint64(c.out[at:])), c.link.lastZxid)
	if seen == 0 && r.Session != 0 {
		seen = c.link.cfg.Seen
	}
	binary.BigEndian.PutUint64(c.out[at:], uint64(seen))
	return nil
}

const connectRequestZxidOffset = 4 // the zxid follows the protocol version

// handleHandshakeFrame handles a frame that arrives before the handshake is done. It
// returns the bytes for the library.
func (c *Conn) handleHandshakeFrame(frame []byte) ([]byte, error) {
	if c.handshake.response == nil {
		return c.handleConnectResponse(frame)
	}
	r, err := parseReply(frame[proto.LengthSize:])
	if err != nil {
		return nil, err
	}
	if c.handshake.saslXid != 0 {
		return c.handleSASL(r)
	}
	scheme, ours := c.handshake.waiting[r.Xid]
	switch {
	case ours && r.Code == proto.CodeSessionClosedNeedsSASL:
		return nil, &sasl.Error{Code: r.Code}
	case !ours || r.Code != 0 && scheme == "":
		return nil, errMalformed
	case r.Code != 0:
		return nil, &AuthError{scheme, r.Code}
	}
	c.matchReply(r)
	delete(c.handshake.waiting, r.Xid)
	if len(c.handshake.waiting) > 0 {
		return nil, nil
	}
	if c.requestedSession == 0 {
		c.sessionAccepted()
	}
	c.establish()
	return c.handshake.response, nil
}

// handleConnectResponse handles the ConnectResponse. A server that has lost a session
// should say so, but some servers grant another session instead (ClickHouse Keeper
// did), and the library would continue as if nothing had been lost. The client must
// treat that as the end of the session, so handleConnectResponse replaces the response
// by the response of a correct server.
func (c *Conn) handleConnectResponse(frame []byte) ([]byte, error) {
	r, err := parseConnectResponse(frame[proto.LengthSize:])
	if err != nil {
		return nil, err
	}
	if granted := timeoutOf(r); r.Session != 0 && granted < c.link.cfg.MinTimeout {
		return nil, fmt.Errorf("the server grants a session timeout of %v, less than %v",
			granted, c.link.cfg.MinTimeout)
	}
	replaced := r.Session != 0 && c.requestedSession != 0 && r.Session != c.requestedSession
	if replaced {
		c.link.noteReplaced()
	}
	if r.Session == 0 || replaced {
		// Timeout 0 and session 0 mean that the session has expired.
		clear(frame[proto.LengthSize+4 : proto.LengthSize+handshakeSize])
		return frame, nil
	}
	c.link.recordIdentity(r)
	c.handshake.timeout = timeoutOf(r)
	if c.sasl != nil {
		c.handshake.response = bytes.Clone(frame)
		c.sendSASL(c.sasl.First)
		return nil, nil
	}
	return c.sessionGranted(frame)
}

// sessionGranted continues the handshake after the server has granted the requested
// session and, if SASL is configured, has authenticated the client. A new session is
// accepted when the server has answered the first ping.
func (c *Conn) sessionGranted(response []byte) ([]byte, error) {
	if c.requestedSession != 0 {
		c.sessionAccepted()
	}
	if c.authenticate() {
		c.handshake.response = bytes.Clone(response)
		return nil, nil
	}
	c.establish()
	return response, nil
}

// sessionAccepted notes that the session lives for its timeout from the
// ConnectRequest, or from a later contact.
func (c *Conn) sessionAccepted() {
	c.link.mu.Lock()
	c.link.timeout = c.handshake.timeout
	// A majority has committed the creation of a new session. A deposed leader
	// may resume an old one by itself.
	if !c.link.cfg.LeaderConfirmed || c.requestedSession == 0 {
		c.link.contactLocked(c.connectSentAt)
	}
	c.link.mu.Unlock()
	if c.link.cfg.Accepted != nil {
		c.link.cfg.Accepted()
	}
}

func timeoutOf(r proto.ConnectResponse) time.Duration {
	return time.Duration(r.TimeoutMillis) * time.Millisecond
}

// authenticate sends all credentials, and reports whether the handshake has to wait for an
// answer. Servers might refuse later requests without credentials.
//
// A ping follows the credentials of a new session, and of a session that a server has
// refused to serve without authentication. The answer to the ping shows whether the server
// serves the client: a server that requires authentication grants the session in any case.
//
// Without Config.LeaderConfirmed, the ping is also contact. The creation of the session may
// have taken so long, as on servers with slow disks, that its timeout, counted from the
// ConnectRequest, would be over before the library's first ping.
func (c *Conn) authenticate() bool {
	var all []Credentials
	if c.link.cfg.Credentials != nil {
		all = c.link.cfg.Credentials()
	}
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.handshake.waiting = map[int32]string{}
	send := func(xid, op int32, scheme string, payload func([]byte) []byte) {
		r := proto.RequestHeader{Xid: xid, Op: op}
		c.out = appendRequest(c.out, r, payload)
		c.inflight.sent(r, c.link.cfg.Clock(), nil)
		c.handshake.waiting[xid] = scheme
	}
	for _, cred := range all {
		send(c.link.nextOwnXid(), proto.OpAuth, cred.Scheme, proto.Auth(cred.Scheme, cred.Auth).Append)
	}
	if c.requestedSession == 0 || c.link.notServed {
		send(proto.XidPing, proto.OpPing, "", noPayload)
	}
	c.signal()
	return len(c.handshake.waiting) > 0
}

// establish queues the watches and then lets requests pass.
func (c *Conn) establish() {
	c.handshake.done = true
	begin := func(standard []SetWatch, persistent []*PersistentWatch) {
		c.link.mu.Lock()
		defer c.link.mu.Unlock()
		c.restoreLocked(standard, persistent)
		c.established, c.establishedAt, c.link.established = true, time.Now(), true
		c.link.notServed = false
		if c.link.cfg.LeaderConfirmed && !c.link.closed {
			c.link.goroutines.Go((&heartbeat{Conn: c}).confirmContact)
		}
	}
	if c.link.cfg.Watches == nil {
		begin(nil, nil)
	} else {
		c.link.cfg.Watches(begin)
	}
	c.signal()
}

func (c *Conn) setWatchesSize() int {
	if limit := c.link.cfg.MaxRequest; limit > 0 {
		return min(setWatchesSize, limit-setWatchesHeader)
	}
	return setWatchesSize
}

// restoreLocked sets watches again, before every other request. Standard watches take
// few requests. Each persistent watch takes one request, and requests beyond the limit
// wait for room.
//
// The server answers setWatches with the events that have happened since the
// newest zxid that this client has seen in an answer. A read that overtook
// those events would show the new data before the event.
//
// The watches may take several requests. The answer to one carries a zxid that
// the watches of the next request have not seen yet. If the connection breaks
// in between, those watches must be set again as of the earlier zxid, so only
// the last answer's zxid counts.
func (c *Conn) restoreLocked(standard []SetWatch, persistent []*PersistentWatch) {
	batches := batchesOf(standard, c.setWatchesSize())
	for i, batch := range batches {
		call, err := c.enqueueSetWatchesLocked(c.link.lastZxid, batch, func(code int32, err error) {
			if (err != nil || code != proto.CodeOK) && c.link.cfg.NotSet != nil {
				c.link.cfg.NotSet()
			}
		})
		if err == nil { // an error means that the connection is closed; the next one sets the watches
			call.ignoreZxid = i < len(batches)-1
		}
	}
	for _, w := range persistent {
		c.enqueueAddWatchLocked(w)
	}
}

// handshakeFailed reports the reason why this connection has no session.
func (c *Conn) handshakeFailed(err error) {
	if c.handshake.done || c.link.cfg.Failed == nil {
		return
	}
	if c.handshake.saslXid != 0 {
		err = c.sasl.interrupted(err)
	}
	c.link.cfg.Failed(fmt.Errorf("handshake with %v: %w", c.RemoteAddr(), err))
}

func frameLength(frame []byte) int { return int(int32(binary.BigEndian.Uint32(frame))) }
