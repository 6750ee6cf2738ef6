package transport

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/framework/internal/proto"
)

// handshake is the part of a connection's life before the library learns that
// it has a session: the ConnectRequest, the ConnectResponse, and
// authentication, which the library would leave until later.
type handshake struct {
	done     bool
	response []byte           // held back until the handshake is done
	timeout  time.Duration    // the session's
	saslXid  int32            // of the message of SASL that is not answered yet, or 0
	ping     *firstPing       // not answered yet, or nil
	auths    map[int32]string // schemes by xid; the answer removes one
}

// Credentials prove to the server who the client is.
type Credentials struct {
	Scheme string
	Auth   []byte
}

// AuthError is the server's refusal of credentials. The server closes the
// connection after it.
type AuthError struct {
	Scheme string
	Code   int32
}

// Error returns a message with the scheme and the server's code.
func (e *AuthError) Error() string {
	return fmt.Sprintf("server refused the credentials of scheme %q (%d)", e.Scheme, e.Code)
}

// sendConnectRequest sends the library's ConnectRequest, the first frame of a
// connection. In it the library tells the server the newest zxid that it has
// seen, so that a server which is further behind refuses the client. The
// library has not seen the answers to our calls, so the newest zxid of those
// takes the place of an older one.
//
// A session that has had no answer yet may move to a server that is behind the
// one that has created the session, and so behind what the client saw in the
// session before. Config.Seen keeps it from that. A new session does not ask for
// as much: an ensemble that was set back to an older state, from a backup, would
// never grant one.
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

// handleHandshakeFrame handles a frame that arrives before the handshake is
// done. It returns what the library gets.
func (c *Conn) handleHandshakeFrame(frame []byte) ([]byte, error) {
	if c.handshake.response == nil {
		return c.handleConnectResponse(frame)
	}
	r, err := parseReply(frame[proto.LengthSize:])
	if err != nil {
		return nil, err
	}
	switch {
	case c.handshake.saslXid != 0:
		return c.handleSASL(r)
	case c.handshake.ping != nil:
		return c.handleFirstPing(r)
	}
	scheme, ours := c.handshake.auths[r.Xid]
	switch {
	case !ours:
		return nil, errMalformed
	case r.Code != 0:
		return nil, &AuthError{scheme, r.Code}
	}
	c.matchReply(r)
	delete(c.handshake.auths, r.Xid)
	if len(c.handshake.auths) > 0 {
		return nil, nil
	}
	c.establish()
	return c.handshake.response, nil
}

// handleConnectResponse handles the ConnectResponse. A server that has lost a
// session should say so, but some grant another session instead (ClickHouse
// Keeper did), and the library would go on as if nothing had been lost. The
// client must treat that as the end of the session, so the response is
// rewritten to what a correct server would send.
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

// sessionGranted goes on when the server has granted the requested session, and
// has authenticated the client by SASL if that is configured.
func (c *Conn) sessionGranted(response []byte) ([]byte, error) {
	cfg := &c.link.cfg
	if c.requestedSession == 0 && !cfg.LeaderConfirmed && cfg.Clock().Sub(c.connectSentAt) > c.handshake.timeout/3 {
		c.sendFirstPing(response)
		return nil, nil
	}
	return c.sessionAccepted(response, c.connectSentAt)
}

// sessionAccepted goes on when the session is known to live for its timeout from
// contact, which is when a request was sent that the server has answered.
func (c *Conn) sessionAccepted(response []byte, contact time.Time) ([]byte, error) {
	c.link.mu.Lock()
	c.link.timeout = c.handshake.timeout
	// A majority has committed the creation of a new session. A deposed leader
	// may resume an old one by itself.
	if !c.link.cfg.LeaderConfirmed || c.requestedSession == 0 {
		c.link.contactLocked(contact)
	}
	c.link.mu.Unlock()
	if c.link.cfg.Accepted != nil {
		c.link.cfg.Accepted()
	}
	if c.authenticate() {
		c.handshake.response = bytes.Clone(response)
		return nil, nil
	}
	c.establish()
	return response, nil
}

func timeoutOf(r proto.ConnectResponse) time.Duration {
	return time.Duration(r.TimeoutMillis) * time.Millisecond
}

// authenticate sends all credentials, and reports whether there are any.
// Requests that follow would be refused without them.
func (c *Conn) authenticate() bool {
	if c.link.cfg.Credentials == nil {
		return false
	}
	all := c.link.cfg.Credentials()
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.handshake.auths = map[int32]string{}
	for _, cred := range all {
		r := proto.RequestHeader{Xid: c.link.nextOwnXid(), Op: proto.OpAuth}
		c.out = appendRequest(c.out, r, cred.Payload)
		c.inflight.sent(r, c.link.cfg.Clock(), nil)
		c.handshake.auths[r.Xid] = cred.Scheme
	}
	c.signal()
	return len(all) > 0
}

// Payload appends the body of an auth request.
func (c Credentials) Payload(b []byte) []byte {
	b = jute.AppendInt32(b, 0) // the type, which is always this
	return jute.AppendBuffer(jute.AppendString(b, c.Scheme), c.Auth)
}

// establish queues the watches and then lets requests pass.
func (c *Conn) establish() {
	c.handshake.done = true
	begin := func(watches []SetWatch) {
		c.link.mu.Lock()
		defer c.link.mu.Unlock()
		c.restoreLocked(watches)
		c.established, c.establishedAt, c.link.established = true, time.Now(), true
		if c.link.cfg.LeaderConfirmed && !c.link.closed {
			c.link.goroutines.Go((&heartbeat{Conn: c}).confirmContact)
		}
	}
	if c.link.cfg.Watches == nil {
		begin(nil)
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

// restoreLocked sets watches again. It must come before every other request.
// The requests for standard watches are few. There is one for each persistent
// watch, and those beyond the limit wait for room.
//
// The server answers setWatches with the events that have happened since the
// newest zxid that this client has seen in an answer. A read that overtook
// those events would show the new data before the event.
//
// The watches may take several requests. The answer to one carries a zxid that
// the watches of the next request have not seen yet. If the connection breaks
// in between, those watches must be set again as of the earlier zxid, so only
// the last answer's zxid counts.
func (c *Conn) restoreLocked(watches []SetWatch) {
	var standard []SetWatch
	var persistent []*PersistentWatch
	for _, w := range watches {
		if w.Persistent != nil {
			persistent = append(persistent, w.Persistent)
		} else {
			standard = append(standard, w)
		}
	}
	batches := batchesOf(standard, c.setWatchesSize())
	for i, batch := range batches {
		call, err := c.enqueueSetWatchesLocked(c.link.lastZxid, batch, func(code int32, err error) {
			if (err != nil || code != proto.CodeOK) && c.link.cfg.NotSet != nil {
				c.link.cfg.NotSet()
			}
		})
		if err == nil { // an error means that the connection is closed; the next one sets them
			call.ignoreZxid = i < len(batches)-1
		}
	}
	for _, w := range persistent {
		c.enqueueAddWatchLocked(w)
	}
}

// handshakeFailed reports why there is no session on this connection.
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
type firstPing struct{ sent time.Time }

// sendFirstPing sends the ping. The library gets the ConnectResponse only after
// the ping is answered.
func (c *Conn) sendFirstPing(response []byte) {
	c.handshake.response = bytes.Clone(response)
	c.handshake.ping = &firstPing{c.link.cfg.Clock()}
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
	return c.sessionAccepted(response, p.sent)
}
