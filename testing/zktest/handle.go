package zktest

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
		c.out.signal() // what is before the answer does not wait for the functions
		f.after(x.req)
		close(answered)
	}
	return more
}

// faultsLocked is what the rules, and a ChaosPlan, want done to the request.
func (x *exchange) faultsLocked() (f faults) {
	s := x.srv
	if len(s.rules.injections) > 0 {
		s.rules.applyLocked(&f, &x.req, x.paths)
	}
	if s.sim != nil && x.conn.rngOf == s.sim { // else it was on its way before the plan began
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
