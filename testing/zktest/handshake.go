package zktest

import (
	"crypto/subtle"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// connectOp is the handshake, the first frame on a connection. With it, a client opens a
// session, or continues its session.
type connectOp struct {
	pathless
	seen     int64 // the newest zxid that the client has seen
	timeout  time.Duration
	session  int64 // 0 for a new session
	password []byte
	flagged  bool // the client knows of read-only servers and expects a flag in the answer
}

// runLocked exists only to make connectOp an operation; see connectLocked.
func (*connectOp) runLocked(*exchange, *wire.Encoder) wire.Code { return wire.ErrUnimplemented }

func (c *conn) decodeConnect(frame []byte) (*exchange, error) {
	d := &wire.Decoder{Buf: frame}
	d.Int32() // protocol version, always 0
	op := &connectOp{seen: d.Int64(), timeout: time.Duration(d.Int32()) * time.Millisecond}
	op.session, op.password = d.Int64(), d.Buffer()
	if d.Err != nil {
		return nil, d.Err
	}
	op.flagged = len(d.Buf) > 0
	x := &exchange{srv: c.srv, conn: c, op: op}
	x.req = Request{Time: time.Now(), Member: c.srv.number(), Op: wire.OpConnect, Session: op.session}
	return x, nil
}

// waitsForLeaderLocked returns false for a client that has seen a newer transaction than
// this server: the server closes that connection at once.
func (op *connectOp) waitsForLeaderLocked(x *exchange) bool { return op.seen <= x.srv.zxid }

// connectLocked gives the connection a session and returns the answer.
func (op *connectOp) connectLocked(x *exchange) []byte {
	s := x.srv
	if op.seen > s.zxid {
		// The client has seen a newer transaction than this server. The server closes
		// the connection without an answer, so that the client tries another server.
		return x.hangUpLocked()
	}
	if s.member != nil && !s.member.admitsLocked(op.session) {
		return x.hangUpLocked()
	}
	if s.member != nil && x.needsNoMajorityLocked() {
		return op.connectWithoutMajorityLocked(x)
	}
	last := s.leaderServerLocked().madeZxidLocked()
	sess := op.lookUpLocked(s)
	if sess == nil {
		return op.rejectLocked(x)
	}
	if zxid := s.leaderServerLocked().madeZxidLocked(); zxid > last {
		x.awaitZxid = zxid // a new session is a transaction
	}
	return op.takeUpLocked(x, sess)
}

// hangUpLocked ends the connection without an answer.
func (x *exchange) hangUpLocked() []byte {
	x.last, x.req.Err = true, wire.ErrConnectionLoss
	return nil
}

// takeUpLocked connects a session to this connection.
func (op *connectOp) takeUpLocked(x *exchange, sess *session) []byte {
	s := x.srv
	if sess.host != nil && sess.host != x.conn.host {
		sess.host.endedLocked(sess) // the previous host must not wait for the end of the session
	}
	sess.conn, sess.stray, sess.host, x.conn.sess = x.conn, nil, x.conn.host, sess
	sess.owner = x.conn
	sess.timeout = min(max(op.timeout, s.cfg.minTimeout), s.cfg.maxTimeout)
	sess.beginTimeoutLocked()
	x.req.Session, x.req.Zxid = sess.id, s.zxid
	return op.answerLocked(s, wire.Millis(sess.timeout), sess.id)
}

// lookUpLocked returns the session in the handshake, or nil if the session is over or
// belongs to another client.
func (op *connectOp) lookUpLocked(s *Server) *session {
	if op.session == 0 || s.cfg.ClickHouseKeeper && s.sessions[op.session] == nil {
		return s.newSessionLocked()
	}
	if !op.provesOwnerLocked(s, s.sessions[op.session]) {
		return nil
	}
	if _, replaced := s.replaced[op.session]; replaced {
		delete(s.replaced, op.session)
		return s.newSessionLocked()
	}
	return s.sessions[op.session]
}

// provesOwnerLocked reports whether the client has the password of the session, which is
// nil if the server does not know the session. Like a real server, it closes the other
// connections of the session before it checks the password
// (ZooKeeperServer.processConnectRequest).
func (op *connectOp) provesOwnerLocked(s *Server, sess *session) bool {
	sess.endConnsAtLocked(s)
	return subtle.ConstantTimeCompare(s.password(op.session), op.password) == 1
}

// rejectLocked answers that the session is over, and ends the connection. In the answer,
// the timeout and the session id are 0: some clients check the timeout, and some the id.
func (op *connectOp) rejectLocked(x *exchange) []byte {
	x.last = true
	x.req.Err, x.req.Zxid = wire.ErrSessionExpired, x.srv.zxid
	return op.answerLocked(x.srv, 0, 0)
}

func (op *connectOp) answerLocked(s *Server, timeout int32, id int64) []byte {
	password := make([]byte, passwordSize)
	if id != 0 {
		password = s.password(id)
	}
	e := &wire.Encoder{Buf: make([]byte, wire.LengthSize, 64)}
	e.Int32(0) // protocol version
	e.Int32(timeout)
	e.Int64(id)
	e.Buffer(password)
	if op.flagged {
		e.Bool(false) // the server is not read-only
	}
	return e.Frame()
}

// connectWithoutMajorityLocked is connectLocked at a leader that has lost its majority
// without noticing the loss, or at a follower of that leader. Continuing a session needs no
// transaction (LeaderZooKeeperServer.revalidateSession).
func (op *connectOp) connectWithoutMajorityLocked(x *exchange) []byte {
	m := x.srv.member
	if !m.admitsLocked(op.session) {
		return x.hangUpLocked()
	}
	sessions := m.sessions
	if deposed := m.leader.deposed; deposed != nil {
		sessions = deposed.sessions
	}
	sess := sessions[op.session]
	switch {
	case sess == nil || !op.provesOwnerLocked(x.srv, sess):
		return op.rejectLocked(x)
	case m.leader.deposed == nil:
		return op.takeUpLocked(x, sess)
	}
	return op.strayLocked(x, sess)
}

// strayLocked takes up a session at a deposed leader. The next leader does not learn of
// the connection.
func (op *connectOp) strayLocked(x *exchange, sess *session) []byte {
	if sess.stray != nil {
		sess.stray.closeByServerLocked()
	}
	sess.stray, x.conn.sess = x.conn, sess
	sess.touchLocked(x.srv)
	x.req.Session, x.req.Zxid = sess.id, x.srv.zxid
	return op.answerLocked(x.srv, wire.Millis(sess.timeout), sess.id)
}
