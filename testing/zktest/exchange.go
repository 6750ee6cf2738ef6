package zktest

// exchange is one request on its way through the server.
type exchange struct {
	srv  *Server
	conn *conn
	req  Request
	op   operation

	last bool // the connection ends after the answer

	// An answer of a member waits until the member has applied as much as the request
	// was told of: a write its own transaction, a sync everything there was.
	settleAt int64
	waiting  *unsettled // nil if there is no need to wait
}

// unsettled is an answer that has to wait.
type unsettled struct {
	faults   faults
	out      *encoder // nil if frame is complete
	frame    []byte
	code     Code
	over     chan struct{} // closed when the following are set
	more     bool
	answered chan struct{}
}

// decodeRequest makes an exchange of a frame that follows the handshake.
func (c *conn) decodeRequest(frame []byte) (*exchange, error) {
	xid, kind, op, err := decodeRequest(frame)
	if err != nil {
		return nil, err
	}
	x := &exchange{srv: c.srv, conn: c, op: op}
	x.req = Request{Time: c.srv.clock.Now(), Member: c.srv.number(), Conn: c.id, Xid: xid, Op: kind, Path: op.target()}
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
	if c.hears() {
		s.traffic.received++
		c.traffic.received++
		if c.sess != nil {
			x.req.Session = c.sess.id
		}
		f = s.faultsFor(x)
	}
	if f.delaysRequest() {
		s.unlock()
		if !f.before(s.clock, c.done, x.req) {
			return false
		}
		s.mu.Lock()
	}
	x.awaitTurn()
	var answered chan struct{}
	if more = !c.closed; c.hears() {
		more, answered = x.process(f)
	}
	s.unlock()
	if u := x.waiting; u != nil {
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

// awaitTurn returns, with the lock held as before, when the request can be carried
// out, or will never be.
func (x *exchange) awaitTurn() {
	s := x.srv
	if !x.conn.hears() || !x.mustWait() {
		return
	}
	s.unlock() // for those who wait for what the rules have counted
	s.mu.Lock()
	for x.conn.hears() && x.mustWait() {
		x.conn.awaitChange()
		if s.sim != nil && x.conn.hears() && !x.mustWait() {
			s.mu.Unlock()
			x.conn.travel(x) // those that have waited together must not come together
			s.mu.Lock()
		}
	}
}

// awaitChange waits for the next change, or the end of the connection. s.mu is held
// before and after.
func (c *conn) awaitChange() {
	changed := c.srv.nextChange()
	c.srv.mu.Unlock() // unlock would be a change for us
	select {
	case <-changed:
	case <-c.done:
	}
	c.srv.mu.Lock()
}

func (x *exchange) mustWait() bool {
	s := x.srv
	if s.frozen || s.member != nil && x.forLeader() && !s.member.linked() && !x.needsNoMajority() {
		return true
	}
	if len(s.paused) == 0 {
		return false
	}
	_, paused := s.paused[x.req.Session]
	return paused
}

// needsNoMajority reports whether the member's leader answers although it has lost its
// majority: a sync, as long as it does not know that.
func (x *exchange) needsNoMajority() bool {
	m := x.srv.member
	return x.req.Op == OpSync && !m.linked() && m.leader != nil && m.follows(m.leader) && m.reaches(m.leader)
}

// forLeader reports whether a follower cannot answer the request alone.
func (x *exchange) forLeader() bool {
	if c, isConnect := x.op.(*connectOp); isConnect {
		return c.seen <= x.srv.zxid // else it is sent away at once
	}
	switch x.req.Op {
	case OpMulti, OpSetACL, OpReconfig, OpDeleteContainer, OpSync, OpCloseSession:
		return true
	}
	_, isWrite := writes[x.req.Op]
	return isWrite
}

// process carries the request out, or does what the faults want instead, and
// queues the answer. If functions are to be called before the answer goes out, it
// waits in the queue for the channel answered to be closed: its place has to be
// taken now, so that an event of a watch that this request has set cannot overtake
// the answer, while the server works on for others. s.mu is held.
func (x *exchange) process(f faults) (more bool, answered chan struct{}) {
	var answer []byte // nil: the connection stays silent
	if f.replyFirst {
		x.conn.out.holdEvents()
	}
	switch {
	case f.dropRequest:
		x.last = true
	case f.reset:
		x.srv.logRequest(x.req)
		x.conn.reset()
		return false, nil
	case f.mute:
		x.conn.mute = true
	case f.deafen:
		x.conn.deaf = true
	case f.fail != ok:
		answer = x.refuse(f.fail)
	default:
		answer = x.run()
		x.req.Processed = true
	}
	x.srv.logRequest(x.req)
	if x.waiting != nil {
		x.waiting.faults, x.waiting.frame = f, answer
		x.srv.member.settling = append(x.srv.member.settling, x)
		return true, nil
	}
	return x.finish(f, answer)
}

// finish queues the answer under the faults that apply to it. Whoever carries out the
// requests of the connection sends it, or wakes the writer.
func (x *exchange) finish(f faults, answer []byte) (more bool, answered chan struct{}) {
	switch {
	case f.muteReply:
		x.conn.mute, answer = true, nil
	case f.silence:
		x.conn.silent, answer = true, nil
	case f.dropReply:
		x.last, answer = true, nil
	}
	x.countAnswer(answer)
	if len(f.callAfter) > 0 {
		answered = make(chan struct{})
	}
	x.conn.out.queueFrame(outFrame{
		bytes: answer, notBefore: f.replyTime(x.srv.clock), gate: answered, aside: f.eventFirst && len(answer) > 0,
	})
	if f.replyFirst {
		x.conn.out.releaseEvents()
	}
	switch {
	case x.conn.mute || x.conn.silent: // a black hole does not even end
		x.conn.out.seal()
		return true, answered
	case x.last:
		x.conn.out.finish()
		return false, answered
	}
	return true, answered
}

// countAnswer keeps the books for the four-letter words.
func (x *exchange) countAnswer(answer []byte) {
	t := &x.conn.traffic
	t.op, t.xid, t.zxid = x.req.Op, x.req.Xid, x.req.Zxid
	if answer != nil {
		t.sent++
		x.srv.traffic.sent++
	}
}

// run carries the request out and returns the frame of the answer, nil for none or
// for one that has to wait.
func (x *exchange) run() []byte {
	if op, isConnect := x.op.(*connectOp); isConnect {
		answer := op.connect(x)
		x.awaitHistory(nil, ok)
		return answer
	}
	if x.srv.member != nil && x.forLeader() && !x.needsNoMajority() {
		return x.runAtLeader()
	}
	x.hear()
	out := newReply()
	return x.reply(out, x.op.run(x, out))
}

// runAtLeader carries out what a follower hands on to its leader. That the client
// has been heard of is not handed on. A client that has moved to another member is
// not answered, as if it could not be meant.
func (x *exchange) runAtLeader() []byte {
	s, sess := x.srv, x.conn.sess
	s.hear(sess)
	out := newReply()
	code := ErrSessionExpired
	switch {
	case s.sessions[sess.id] != sess:
		s.takeZxid()
	case sess.conn != x.conn:
		x.last, x.req.Err = true, ErrSessionMoved
		return nil
	default:
		code = x.op.run(x, out)
	}
	x.settleAt = s.head().zxid
	if x.awaitHistory(out, code) {
		x.req.Err, x.req.Zxid = code, x.settleAt
		return nil
	}
	return x.reply(out, code)
}

// awaitHistory makes the answer wait if the member has something to apply first.
func (x *exchange) awaitHistory(out *encoder, code Code) bool {
	if x.settleAt <= x.srv.zxid {
		return false
	}
	x.waiting = &unsettled{out: out, code: code, over: make(chan struct{})}
	return true
}

// settleNow queues an answer that has waited long enough. s.mu is held.
func (x *exchange) settleNow() {
	u := x.waiting
	if u.more = !x.conn.closed; x.conn.hears() {
		answer := u.frame
		if u.out != nil {
			answer = x.reply(u.out, u.code)
		}
		u.more, u.answered = x.finish(u.faults, answer)
	}
	close(u.over)
}

// giveUp ends the wait for an answer that will never come.
func (x *exchange) giveUp() {
	x.waiting.more = !x.conn.closed
	close(x.waiting.over)
}

// hear notes that the client has been heard of. An auth request does not count: a real server answers it on the spot
// (ZooKeeperServer.processPacket).
func (x *exchange) hear() {
	if x.req.Op != OpAuth {
		x.srv.hear(x.conn.sess)
	}
}

// refuse returns an answer with an error, without carrying anything out.
func (x *exchange) refuse(code Code) []byte {
	if op, isConnect := x.op.(*connectOp); isConnect {
		return op.reject(x)
	}
	x.hear()
	return x.reply(newReply(), code)
}

func (x *exchange) reply(out *encoder, code Code) []byte {
	x.req.Err, x.req.Zxid = code, x.srv.zxid
	xid, zxid := x.req.Xid, x.srv.zxid
	switch _, unknown := x.op.(unknownOp); {
	case unknown:
		zxid = -1
	case x.req.Op == OpPing:
		xid = xidPing
	case x.req.Op == OpAuth, x.req.Op == OpSASL:
		zxid = 0 // a client takes the zxid of a reply as proof that it has seen that much
	}
	return out.reply(xid, zxid, code)
}
