package zktest

import (
	"crypto/subtle"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// connectOp is the handshake, the first frame on a connection: a client opens a
// session, or takes up one it has.
type connectOp struct {
	pathless
	seen     int64 // the last zxid the client knows of
	timeout  time.Duration
	session  int64 // 0: a new one
	password []byte
	readOnly bool // the client knows of read-only servers and expects the flag back
}

// runLocked exists only to make connectOp an operation; see connect.
func (*connectOp) runLocked(*exchange, *wire.Encoder) wire.Code { return wire.ErrUnimplemented }

func (c *conn) decodeConnect(frame []byte) (*exchange, error) {
	d := &wire.Decoder{Buf: frame}
	d.Int32() // protocol version, always 0
	op := &connectOp{seen: d.Int64(), timeout: time.Duration(d.Int32()) * time.Millisecond}
	op.session, op.password = d.Int64(), d.Buffer()
	if d.Err != nil {
		return nil, d.Err
	}
	op.readOnly = len(d.Buf) > 0
	x := &exchange{srv: c.srv, conn: c, op: op}
	x.req = Request{Time: time.Now(), Member: c.srv.number(), Op: wire.OpConnect, Session: op.session}
	return x, nil
}

// connectLocked gives the connection a session and returns the answer.
func (op *connectOp) connectLocked(x *exchange) []byte {
	s := x.srv
	if op.seen > s.zxid {
		// The client has seen a future that this server has not: it has to find
		// a better server, and is told so by silence.
		x.last = true
		return nil
	}
	if s.member != nil && !s.member.admitsLocked(op.session) {
		x.last = true
		return nil
	}
	last := s.leaderServerLocked().zxid
	sess := op.lookUpLocked(s)
	if sess == nil {
		return op.rejectLocked(x)
	}
	if zxid := s.leaderServerLocked().zxid; zxid > last {
		x.awaitZxid = zxid // a new session is a transaction
	}
	if sess.conn != nil && sess.conn.srv == s {
		sess.conn.closeByServerLocked() // other members do not know of the move
	}
	sess.conn, sess.host, x.conn.sess = x.conn, x.conn.host, sess
	sess.timeout = min(max(op.timeout, s.cfg.minTimeout), s.cfg.maxTimeout)
	s.extendLocked(sess)
	s.armExpiryLocked(sess)
	x.req.Session, x.req.Zxid = sess.id, s.zxid
	return op.answer(wire.Millis(sess.timeout), sess.id, s.password(sess.id))
}

// lookUpLocked returns the session the client asks for, nil if it is over or
// not its own.
func (op *connectOp) lookUpLocked(s *Server) *session {
	if op.session == 0 {
		return s.newSessionLocked()
	}
	want := s.password(op.session)
	if subtle.ConstantTimeCompare(want, op.password) == 0 {
		return nil
	}
	if _, replaced := s.replaced[op.session]; replaced {
		delete(s.replaced, op.session)
		return s.newSessionLocked()
	}
	return s.sessions[op.session]
}

// rejectLocked tells the client that its session is over, and ends the
// connection. Some clients look at the timeout for that, some at the session
// id.
func (op *connectOp) rejectLocked(x *exchange) []byte {
	x.last = true
	x.req.Err, x.req.Zxid = wire.ErrSessionExpired, x.srv.zxid
	return op.answer(0, 0, make([]byte, passwordSize))
}

func (op *connectOp) answer(timeout int32, id int64, password []byte) []byte {
	e := &wire.Encoder{Buf: make([]byte, wire.LengthSize, 64)}
	e.Int32(0) // protocol version
	e.Int32(timeout)
	e.Int64(id)
	e.Buffer(password)
	if op.readOnly {
		e.Bool(false)
	}
	return e.Frame()
}
