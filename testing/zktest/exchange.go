package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// operation is a decoded request. Each type of request has one, in a file of
// its own or together with its relatives: op_<request>.go.
type operation interface {
	// target is the path the request is about, "" if there is none.
	target() string
	// runLocked carries the request out and writes the body of the answer.
	runLocked(x *exchange, out *wire.Encoder) wire.Code
}

// handshake is the operation that begins a session. Its answer has no header.
type handshake interface {
	operation
	// waitsForLeaderLocked reports whether a follower cannot answer it alone.
	waitsForLeaderLocked(x *exchange) bool
	// connectLocked carries it out and returns the frame of the answer, nil for
	// none.
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
	unknown bool // the server does not know the request

	// An answer of a member waits until the member has applied as much as the
	// request was told of: a write its own transaction, a sync everything there
	// was.
	awaitZxid int64
	pending   *pendingAnswer // nil if there is no need to wait
}

// pendingAnswer is an answer that has to wait.
type pendingAnswer struct {
	faults   faults
	out      *wire.Encoder // nil if frame is complete
	frame    []byte
	code     wire.Code
	over     chan struct{} // closed when the following are set
	more     bool
	answered chan struct{}
}

// paths returns the paths that the request is about.
func (x *exchange) paths() []string {
	if m, isMulti := x.op.(interface{ targets() []string }); isMulti {
		return m.targets()
	}
	return []string{x.req.Path}
}

// needsNoMajorityLocked reports whether the member's leader answers although it
// has lost its majority: a sync, or the handshake of a session, as long as it
// does not know that.
func (x *exchange) needsNoMajorityLocked() bool {
	m := x.srv.member
	_, isHandshake := x.op.(handshake)
	isFree := x.req.Op == wire.OpSync || isHandshake && x.req.Session != 0
	return isFree && !m.canCommitLocked() && m.leader != nil && m.followsLocked(m.leader) && m.reachesLocked(m.leader)
}

// forLeaderLocked reports whether a follower cannot answer the request alone.
func (x *exchange) forLeaderLocked() bool {
	if op, isHandshake := x.op.(handshake); isHandshake {
		return op.waitsForLeaderLocked(x)
	}
	switch x.req.Op.Family() {
	case wire.OpCreate, wire.OpDelete, wire.OpSetData, wire.OpMulti, wire.OpSetACL, wire.OpReconfig,
		wire.OpDeleteContainer, wire.OpSync, wire.OpCloseSession:
		return true
	case wire.OpCheck:
		return x.srv.cfg.version.isBefore39() // which knows it outside a multi
	}
	return false
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
		x.logLocked()
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
	x.logLocked()
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
	if op, isHandshake := x.op.(handshake); isHandshake {
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
	sess.touchLocked(s)
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

// logLocked writes the request down.
func (x *exchange) logLocked() {
	s := x.srv
	s.log.add(x.req, s.cfg.logSize)
	if s.ens != nil {
		s.ens.log.add(x.req, s.cfg.logSize)
	}
}

// touchLocked notes that the client has been heard of. An auth request does not
// count: a real server answers it on the spot (ZooKeeperServer.processPacket).
func (x *exchange) touchLocked() {
	if x.req.Op != wire.OpAuth {
		x.conn.sess.touchLocked(x.srv)
	}
}

// refuseLocked returns an answer with an error, without carrying anything out.
func (x *exchange) refuseLocked(code wire.Code) []byte {
	if op, isHandshake := x.op.(handshake); isHandshake {
		return op.rejectLocked(x)
	}
	x.touchLocked()
	return x.replyLocked(wire.NewReply(), code)
}

func (x *exchange) replyLocked(out *wire.Encoder, code wire.Code) []byte {
	x.req.Err, x.req.Zxid = code, x.srv.zxid
	xid, zxid := x.req.Xid, x.srv.zxid
	switch {
	case x.unknown:
		zxid = -1
	case x.req.Op == wire.OpPing:
		xid = wire.XidPing
	case x.req.Op == wire.OpAuth, x.req.Op == wire.OpSASL:
		zxid = 0 // a client takes the zxid of a reply as proof that it has seen that much
	}
	return out.Reply(xid, zxid, code)
}
