package zktest

import "github.com/gocurator/curator/testing/zktest/internal/wire"

// handle carries out a request under the faults that apply to it. It returns false
// if the connection is about to end, and no further request is to be read.
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
		s.received++
		if c.sess != nil {
			x.req.Session = c.sess.id
		}
		f = x.faultsLocked()
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
		f.after(x.req)
		close(answered)
	}
	return more
}

// faultsLocked returns the faults that the rules and the ChaosPlan have chosen for
// the request.
func (x *exchange) faultsLocked() (f faults) {
	s := x.srv
	if x.scheduled.apply != nil { // there is a scheduler
		x.scheduled.apply(&f)
	}
	if len(s.rules.injections) > 0 {
		s.rules.applyLocked(&f, &x.req, x.paths)
	}
	if s.sim != nil && x.conn.rngOf == s.sim { // it was not on its way when the plan began
		s.sim.applyFaultsLocked(&f, &x.req, x.paths, x.conn.rng)
	}
	return f
}

// awaitTurnLocked returns when the request can be carried out, or when its
// connection has ended. The lock is held before and after the call.
func (x *exchange) awaitTurnLocked() {
	s := x.srv
	if !x.conn.receivesLocked() || !x.mustWaitLocked() {
		return
	}
	s.unlock() // for goroutines that wait for what the rules have counted
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

func (x *exchange) mustWaitLocked() bool {
	s := x.srv
	if s.paused || s.member != nil && x.forLeaderLocked() && !s.member.canCommitLocked() && !x.needsNoMajorityLocked() {
		return true
	}
	if len(s.pausedSessions) == 0 {
		return false
	}
	_, paused := s.pausedSessions[x.req.Session]
	return paused
}

// processLocked carries the request out, or applies the faults instead, and queues
// the answer. If functions must be called before the answer is sent, the answer waits
// in the queue until the channel answered is closed, and the server continues to work
// for other clients. The answer is queued now, so that the event of a watch that this
// request has set cannot overtake the answer.
func (x *exchange) processLocked(f faults) (more bool, answered chan struct{}) {
	var answer []byte // nil: the connection stays silent
	switch {
	case f.dropRequest:
		x.last = true
	case f.holdRequest > 0:
		x.last = true
		x.holdLocked(f.holdRequest)
		return x.finishLocked(f, nil)
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

// runLocked carries the request out and returns the frame of the answer. It returns
// nil if there is no answer, or if the answer has to wait.
func (x *exchange) runLocked() []byte {
	if op, isHandshake := x.op.(handshake); isHandshake {
		answer := op.connectLocked(x)
		x.awaitHistoryLocked(nil, wire.OK)
		return answer
	}
	if x.requiresSASLLocked() {
		x.last = true
		return x.replyLocked(wire.NewReply(), wire.ErrSessionRequiresSASL)
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

// runAtLeaderLocked carries out a request that a follower passes on to its leader.
// The request does not count as contact with the client at the leader. A client that
// has moved to another member gets no answer.
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

// replyToHistoryLocked returns the answer if the member has applied every transaction
// that the leader had made when the request arrived. Otherwise it returns nil, and the
// answer waits. A leader answers its clients' syncs without waiting
// (CommitProcessor.needCommit).
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

// runWithoutMajorityLocked carries out a sync whose leader has lost its majority
// without noticing the loss. The member waits for the transactions of that leader.
func (x *exchange) runWithoutMajorityLocked() []byte {
	x.touchLocked()
	out := wire.NewReply()
	code := x.op.runLocked(x, out)
	return x.replyToHistoryLocked(out, code, x.srv.member.leader.Server)
}

// refuseLocked returns an answer with an error, and does not carry the request out.
func (x *exchange) refuseLocked(code wire.Code) []byte {
	if op, isHandshake := x.op.(handshake); isHandshake {
		return op.rejectLocked(x)
	}
	x.touchLocked()
	return x.replyLocked(wire.NewReply(), code)
}
