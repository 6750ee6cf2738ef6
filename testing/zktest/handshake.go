package zktest

import (
	"crypto/subtle"
	"time"
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

// run exists only to make connectOp an operation; see connect.
func (*connectOp) run(*exchange, *encoder) Code { return ErrUnimplemented }

func (c *conn) decodeConnect(frame []byte) (*exchange, error) {
	d := &decoder{b: frame}
	d.int32() // protocol version, always 0
	op := &connectOp{seen: d.int64(), timeout: time.Duration(d.int32()) * time.Millisecond}
	op.session, op.password = d.int64(), d.buffer()
	if d.err != nil {
		return nil, d.err
	}
	op.readOnly = len(d.b) > 0
	x := &exchange{srv: c.srv, conn: c, op: op}
	x.req = Request{Time: c.srv.clock.Now(), Member: c.srv.number(), Op: OpConnect, Session: op.session}
	return x, nil
}

// connect gives the connection a session and returns the answer.
func (op *connectOp) connect(x *exchange) []byte {
	s := x.srv
	if op.seen > s.zxid {
		// The client has seen a future that this server has not: it has to find
		// a better server, and is told so by silence.
		x.last = true
		return nil
	}
	if s.member != nil && !s.member.admits(op.session) {
		x.last = true
		return nil
	}
	last := s.head().zxid
	sess := op.lookUp(s)
	if sess == nil {
		return op.reject(x)
	}
	if zxid := s.head().zxid; zxid > last {
		x.settleAt = zxid // a new session is a transaction
	}
	if sess.conn != nil && sess.conn.srv == s {
		sess.conn.sever() // other members do not know of the move
	}
	sess.conn, sess.host, x.conn.sess = x.conn, x.conn.host, sess
	sess.timeout = min(max(op.timeout, s.cfg.minTimeout), s.cfg.maxTimeout)
	s.touch(sess)
	s.watchOver(sess)
	x.req.Session, x.req.Zxid = sess.id, s.zxid
	return op.answer(millis(sess.timeout), sess.id, s.password(sess.id))
}

// lookUp returns the session the client asks for, nil if it is over or not its own.
func (op *connectOp) lookUp(s *Server) *session {
	if op.session == 0 {
		return s.newSession()
	}
	want := s.password(op.session)
	if subtle.ConstantTimeCompare(want, op.password) == 0 {
		return nil
	}
	if _, replaced := s.replaced[op.session]; replaced {
		delete(s.replaced, op.session)
		return s.newSession()
	}
	return s.sessions[op.session]
}

// reject tells the client that its session is over, and ends the connection.
// Some clients look at the timeout for that, some at the session id.
func (op *connectOp) reject(x *exchange) []byte {
	x.last = true
	x.req.Err, x.req.Zxid = ErrSessionExpired, x.srv.zxid
	return op.answer(0, 0, make([]byte, passwordSize))
}

func (op *connectOp) answer(timeout int32, id int64, password []byte) []byte {
	e := &encoder{b: make([]byte, lengthSize, 64)}
	e.int32(0) // protocol version
	e.int32(timeout)
	e.int64(id)
	e.buffer(password)
	if op.readOnly {
		e.bool(false)
	}
	return e.frame()
}
