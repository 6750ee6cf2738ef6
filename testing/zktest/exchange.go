package zktest

import (
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// exchange is one request on its way through the server.
type exchange struct {
	srv  *Server
	conn *conn
	req  Request
	op   operation

	last bool // the connection ends after the answer

	// An answer of a member waits until the member has applied as much as the
	// request was told of: a write its own transaction, a sync everything there
	// was.
	awaitZxid int64
	pending   *pendingAnswer // nil if there is no need to wait
}

// decodeRequest makes an exchange of a frame that follows the handshake.
func (c *conn) decodeRequest(frame []byte) (*exchange, error) {
	xid, kind, op, err := decodeRequest(frame, c.srv.cfg.version)
	if err != nil {
		return nil, err
	}
	x := &exchange{srv: c.srv, conn: c, op: op}
	x.req = Request{Time: time.Now(), Member: c.srv.number(), Conn: c.id, Xid: xid, Op: kind, Path: op.target()}
	if w, reads := op.(interface{ watches() bool }); reads {
		x.req.Watch = w.watches()
	}
	return x, nil
}

// handle carries out a request under the faults that apply to it. It reports
// whether to read on; if not, the end of the connection is already arranged.
func (c *conn) handle(x *exchange) (more bool) {
	s := c.srv
	s.mu.Lock()
	var f faults
	if c.id == 0 {
		s.handshakes++
		c.id = s.handshakes
		x.req.Conn = c.id
	}
	if c.receivesLocked() {
		s.traffic.received++
		c.traffic.received++
		if c.sess != nil {
			x.req.Session = c.sess.id
		}
		f = s.faultsForLocked(x)
	}
	if f.delaysRequest() {
		s.unlock()
		if !f.before(c.done, x.req) {
			return false
		}
		s.mu.Lock()
	}
	x.awaitTurnLocked()
	var answered chan struct{}
	if more = !c.closed; c.receivesLocked() {
		more, answered = x.processLocked(f)
	}
	s.unlock()
	if u := x.pending; u != nil {
		select {
		case <-u.over:
			more, answered = u.more, u.answered
		case <-c.done:
			return false
		}
	}
	if answered != nil {
		c.out.signal() // what is before the answer does not wait for the functions
		f.after(x.req)
		close(answered)
	}
	return more
}

// awaitTurnLocked returns, with the lock held as before, when the request can
// be carried out, or will never be.
func (x *exchange) awaitTurnLocked() {
	s := x.srv
	if !x.conn.receivesLocked() || !x.mustWaitLocked() {
		return
	}
	s.unlock() // for those who wait for what the rules have counted
	s.mu.Lock()
	for x.conn.receivesLocked() && x.mustWaitLocked() {
		x.conn.awaitChangeLocked()
		if s.sim != nil && x.conn.receivesLocked() && !x.mustWaitLocked() {
			s.mu.Unlock()
			x.conn.simulateLatency(x) // those that have waited together must not come together
			s.mu.Lock()
		}
	}
}

// awaitChangeLocked waits for the next change, or the end of the connection.
// s.mu is held before and after.
func (c *conn) awaitChangeLocked() {
	changed := c.srv.nextChangeLocked()
	c.srv.mu.Unlock() // unlock would be a change for us
	select {
	case <-changed:
	case <-c.done:
	}
	c.srv.mu.Lock()
}

func (x *exchange) mustWaitLocked() bool {
	s := x.srv
	if s.paused || s.member != nil && !s.readOnlyLocked() && x.forLeaderLocked() && !s.member.canCommitLocked() && !x.needsNoMajorityLocked() {
		return true
	}
	if len(s.pausedSessions) == 0 {
		return false
	}
	_, paused := s.pausedSessions[x.req.Session]
	return paused
}

// needsNoMajorityLocked reports whether the member's leader answers although it
// has lost its majority: a sync, or the handshake of a session, as long as it
// does not know that.
func (x *exchange) needsNoMajorityLocked() bool {
	m := x.srv.member
	c, isConnect := x.op.(*connectOp)
	isFree := x.req.Op == wire.OpSync || isConnect && c.session != 0
	return isFree && !m.canCommitLocked() && m.leader != nil && m.followsLocked(m.leader) && m.reachesLocked(m.leader)
}

// forLeaderLocked reports whether a follower cannot answer the request alone.
func (x *exchange) forLeaderLocked() bool {
	if c, isConnect := x.op.(*connectOp); isConnect {
		return c.seen <= x.srv.zxid // else it is sent away at once
	}
	switch x.req.Op {
	case wire.OpMulti, wire.OpSetACL, wire.OpReconfig, wire.OpDeleteContainer, wire.OpSync, wire.OpCloseSession:
		return true
	}
	if x.req.Op == wire.OpCheck {
		return x.srv.cfg.version.isBefore39() // which knows it outside a multi
	}
	_, isWrite := writes[x.req.Op]
	return isWrite
}

// processLocked carries the request out, or does what the faults want instead,
// and queues the answer. If functions are to be called before the answer goes
// out, it waits in the queue for the channel answered to be closed: its place
// has to be taken now, so that an event of a watch that this request has set
// cannot overtake the answer, while the server works on for others.
func (x *exchange) processLocked(f faults) (more bool, answered chan struct{}) {
	var answer []byte // nil: the connection stays silent
	switch {
	case f.dropRequest:
		x.last = true
	case f.holdRequest > 0:
		x.last = true
		x.holdLocked(f.holdRequest)
		return x.finishLocked(f, nil)
	case f.reset && x.conn.downstreamDead:
		x.last = true // not even a reset gets to the client
	case f.reset:
		x.srv.logRequestLocked(x.req)
		x.conn.resetLocked()
		return false, nil
	case f.blackhole:
		x.conn.blackHole = true
	case f.fail != wire.OK:
		answer = x.refuseLocked(f.fail)
	default:
		answer = x.runLocked()
		x.req.Processed = true
	}
	x.srv.logRequestLocked(x.req)
	if x.pending != nil {
		x.pending.faults, x.pending.frame = f, answer
		x.srv.member.pending = append(x.srv.member.pending, x)
		return true, nil
	}
	return x.finishLocked(f, answer)
}

// finishLocked queues the answer under the faults that apply to it. The
// goroutine that carries out the requests of the connection sends it, or wakes
// the writer.
func (x *exchange) finishLocked(f faults, answer []byte) (more bool, answered chan struct{}) {
	switch {
	case f.blackholeReply:
		x.conn.blackHole, answer = true, nil
	case f.dropReply:
		x.last, answer = true, nil
	}
	x.countAnswerLocked(answer)
	if len(f.callAfter) > 0 {
		answered = make(chan struct{})
	}
	x.conn.out.queueFrame(outFrame{bytes: answer, notBefore: f.replyTime(), gate: answered})
	switch {
	case x.conn.blackHole || x.conn.downstreamDead: // the client does not even see an end
		x.conn.out.seal()
		if x.last {
			x.conn.closeByServerLocked()
		}
		return true, answered
	case x.last:
		x.conn.out.finish()
		return false, answered
	}
	return true, answered
}

// countAnswerLocked keeps the books for the four-letter words.
func (x *exchange) countAnswerLocked(answer []byte) {
	t := &x.conn.traffic
	t.op, t.xid, t.zxid = x.req.Op, x.req.Xid, x.req.Zxid
	if answer != nil {
		t.sent++
		x.srv.traffic.sent++
	}
}

// runLocked carries the request out and returns the frame of the answer, nil
// for none or for one that has to wait.
func (x *exchange) runLocked() []byte {
	if op, isConnect := x.op.(*connectOp); isConnect {
		answer := op.connectLocked(x)
		x.awaitHistoryLocked(nil, wire.OK)
		return answer
	}
	if x.srv.readOnlyLocked() {
		return x.runReadOnlyLocked()
	}
	if x.srv.member != nil && x.needsNoMajorityLocked() {
		return x.runWithoutMajorityLocked()
	}
	if x.srv.member != nil && x.forLeaderLocked() {
		return x.runAtLeaderLocked()
	}
	x.touchLocked()
	out := wire.NewReply()
	return x.replyLocked(out, x.op.runLocked(x, out))
}

// runAtLeaderLocked carries out what a follower hands on to its leader. That
// the client has been heard of is not handed on. A client that has moved to
// another member is not answered, as if it could not be meant.
func (x *exchange) runAtLeaderLocked() []byte {
	s, sess := x.srv, x.conn.sess
	s.touchLocked(sess)
	out := wire.NewReply()
	code := wire.ErrSessionExpired
	switch {
	case s.sessions[sess.id] != sess:
		s.takeZxidLocked()
	case sess.conn != x.conn:
		x.last, x.req.Err = true, wire.ErrSessionMoved
		return nil
	default:
		code = x.op.runLocked(x, out)
	}
	return x.replyToHistoryLocked(out, code, s.leaderServerLocked())
}

// replyToHistoryLocked returns the answer if the member has applied all that a
// leader had made when the request came. A leader answers the syncs of its own
// clients without that, like reads (CommitProcessor.needCommit).
func (x *exchange) replyToHistoryLocked(out *wire.Encoder, code wire.Code, leader *Server) []byte {
	if x.req.Op != wire.OpSync || leader != x.srv {
		x.awaitZxid = leader.madeZxidLocked()
	}
	if x.awaitHistoryLocked(out, code) {
		x.req.Err, x.req.Zxid = code, x.awaitZxid
		return nil
	}
	return x.replyLocked(out, code)
}

// runWithoutMajorityLocked carries out a sync whose leader has lost its
// majority and does not know that. The member waits for what that leader has
// made.
func (x *exchange) runWithoutMajorityLocked() []byte {
	x.touchLocked()
	out := wire.NewReply()
	code := x.op.runLocked(x, out)
	return x.replyToHistoryLocked(out, code, x.srv.member.leader.Server)
}

// touchLocked notes that the client has been heard of. An auth request does not
// count: a real server answers it on the spot (ZooKeeperServer.processPacket).
func (x *exchange) touchLocked() {
	if x.req.Op != wire.OpAuth {
		x.srv.touchLocked(x.conn.sess)
	}
}

// refuseLocked returns an answer with an error, without carrying anything out.
func (x *exchange) refuseLocked(code wire.Code) []byte {
	if op, isConnect := x.op.(*connectOp); isConnect {
		return op.rejectLocked(x)
	}
	x.touchLocked()
	return x.replyLocked(wire.NewReply(), code)
}

func (x *exchange) replyLocked(out *wire.Encoder, code wire.Code) []byte {
	x.req.Err, x.req.Zxid = code, x.srv.zxid
	xid, zxid := x.req.Xid, x.srv.zxid
	switch _, unknown := x.op.(unknownOp); {
	case unknown:
		zxid = -1
	case x.req.Op == wire.OpPing:
		xid = wire.XidPing
	case x.req.Op == wire.OpAuth, x.req.Op == wire.OpSASL:
		zxid = 0 // a client takes the zxid of a reply as proof that it has seen that much
	}
	return out.Reply(xid, zxid, code)
}
