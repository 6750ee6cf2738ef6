package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// operation is a decoded request. Each type of request has an implementation, in a file
// op_*.go.
type operation interface {
	// target returns the path of the request, or an empty string.
	target() string
	// runLocked carries the request out and writes the body of the answer.
	runLocked(x *exchange, out *wire.Encoder) wire.Code
}

// handshake is the operation that begins a session. Its answer has no header.
type handshake interface {
	operation
	// waitsForLeaderLocked reports whether a follower needs its leader for the answer.
	waitsForLeaderLocked(x *exchange) bool
	// connectLocked carries the handshake out and returns the frame of the answer, or
	// nil if there is no answer.
	connectLocked(x *exchange) []byte
	// rejectLocked returns the frame that says "session expired".
	rejectLocked(x *exchange) []byte
}

// exchange is one request on its way through the server.
type exchange struct {
	srv  *Server
	conn *conn
	req  Request
	op   operation

	last    bool // the connection ends after the answer
	unknown bool // the server does not know this type of request

	scheduled Action // the scheduler's action on the request

	// The answer waits until the member has applied this transaction: for a write, its
	// own; for a sync, the newest when the sync arrived.
	awaitZxid int64
	pending   *pendingAnswer // nil if there is no need to wait
}

// pendingAnswer is an answer that has to wait.
type pendingAnswer struct {
	faults   faults
	out      *wire.Encoder // nil if frame is complete
	frame    []byte
	code     wire.Code
	over     chan struct{} // closed when the following fields are set
	more     bool
	answered chan struct{}
}

// paths returns the paths of the request.
func (x *exchange) paths() []string {
	if m, isMulti := x.op.(interface{ targets() []string }); isMulti {
		return m.targets()
	}
	return []string{x.req.Path}
}

// needsNoMajorityLocked reports whether the member's leader answers the request although it
// has lost its majority. Until the leader notices that loss, it answers syncs, and
// handshakes of existing sessions.
func (x *exchange) needsNoMajorityLocked() bool {
	m := x.srv.member
	_, isHandshake := x.op.(handshake)
	isFree := x.req.Op == wire.OpSync || isHandshake && x.req.Session != 0
	return isFree && !m.canCommitLocked() && m.leader != nil && m.followsLocked(m.leader) && m.reachesLocked(m.leader)
}

// forLeaderLocked reports whether a follower needs its leader for the answer.
func (x *exchange) forLeaderLocked() bool {
	if op, isHandshake := x.op.(handshake); isHandshake {
		return op.waitsForLeaderLocked(x)
	}
	switch x.req.Op.Family() {
	case wire.OpCreate, wire.OpDelete, wire.OpSetData, wire.OpMulti, wire.OpSetACL,
		wire.OpSync, wire.OpCloseSession:
		return true
	}
	return false
}

// finishLocked queues the answer, with the faults of the request.
func (x *exchange) finishLocked(f faults, answer []byte) (more bool, answered chan struct{}) {
	switch {
	case f.blackholeReply:
		x.conn.blackHole, answer = true, nil
	case f.dropReply:
		x.last, answer = true, nil
	}
	if len(f.callAfter) > 0 {
		answered = make(chan struct{})
	}
	out := outFrame{bytes: answer, notBefore: f.replyTime(), gate: answered}
	if answer != nil {
		x.srv.sent++
		out.arrival = x.scheduleAnswerLocked()
	}
	x.conn.out.push(out)
	switch {
	case x.conn.blackHole: // the client does not notice the end of the connection
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

// logLocked adds the request to the log.
func (x *exchange) logLocked() {
	s := x.srv
	s.log.add(x.req, s.cfg.RequestLog)
	if s.ens != nil {
		s.ens.log.add(x.req, s.cfg.RequestLog)
	}
}

// touchLocked records a contact with the client. A request does not count if the server
// answers it where it reads the request.
func (x *exchange) touchLocked() {
	if !answeredOnTheSpot(x.req.Op) {
		x.conn.sess.touchLocked(x.srv)
	}
}

func (x *exchange) replyLocked(out *wire.Encoder, code wire.Code) []byte {
	x.req.Err, x.req.Zxid = code, x.srv.zxid
	xid, zxid := x.req.Xid, x.srv.zxid
	switch {
	case x.requiresSASLLocked():
		zxid = 0
	case x.unknown:
		zxid = -1
	case x.req.Op == wire.OpPing:
		xid = wire.XidPing
	case answeredOnTheSpot(x.req.Op):
		zxid = 0 // a client takes the zxid of a reply as proof that it has seen that transaction
	}
	return out.Reply(xid, zxid, code)
}

// awaitHistoryLocked makes the answer wait if the member must apply transactions first.
func (x *exchange) awaitHistoryLocked(out *wire.Encoder, code wire.Code) bool {
	if x.awaitZxid <= x.srv.zxid {
		return false
	}
	x.pending = &pendingAnswer{out: out, code: code, over: make(chan struct{})}
	return true
}

// answerAppliedLocked queues an answer whose transaction the member has applied.
func (x *exchange) answerAppliedLocked() {
	u := x.pending
	if u.more = !x.conn.closed; x.conn.receivesLocked() {
		answer := u.frame
		if u.out != nil {
			answer = x.replyLocked(u.out, u.code)
		}
		u.more, u.answered = x.finishLocked(u.faults, answer)
	}
	close(u.over)
}

// abandonLocked ends the wait for an answer that will never come.
func (x *exchange) abandonLocked() {
	x.pending.more = !x.conn.closed
	close(x.pending.over)
}
