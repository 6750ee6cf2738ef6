package zktest

import "github.com/gocurator/curator/testing/zktest/internal/wire"

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

// faultsLocked is what the rules, and a ChaosPlan, want done to the request.
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

// awaitTurnLocked returns, with the lock held as before, when the request can
// be carried out, or will never be.
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

// runLocked carries the request out and returns the frame of the answer, nil
// for none or for one that has to wait.
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
// leader had made when the request came. A leader answers the syncs of its
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

// refuseLocked returns an answer with an error, without carrying anything out.
func (x *exchange) refuseLocked(code wire.Code) []byte {
	if op, isHandshake := x.op.(handshake); isHandshake {
		return op.rejectLocked(x)
	}
	x.touchLocked()
	return x.replyLocked(wire.NewReply(), code)
}
