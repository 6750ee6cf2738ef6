package zktest

import "time"

// exchange is one request on its way through the server.
type exchange struct {
	srv  *Server
	conn *conn
	req  Request
	op   operation

	last bool // the connection ends after the answer
}

// decodeRequest makes an exchange of a frame that follows the handshake.
func (c *conn) decodeRequest(frame []byte) (*exchange, error) {
	xid, kind, op, err := decodeRequest(frame)
	if err != nil {
		return nil, err
	}
	x := &exchange{srv: c.srv, conn: c, op: op}
	x.req = Request{Time: time.Now(), Conn: c.id, Xid: xid, Op: kind, Path: op.target()}
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
	if c.hears() {
		if c.sess != nil {
			x.req.Session = c.sess.id
		}
		f = s.faultsFor(x)
	}
	if f.delaysRequest() {
		s.unlock()
		if !f.before(c.done, x.req) {
			return false
		}
		s.mu.Lock()
	}
	var answered chan struct{}
	if more = !c.closed; c.hears() {
		more, answered = x.process(f)
	}
	s.unlock()
	if answered != nil {
		f.after(x.req)
		close(answered)
	}
	return more
}

// process carries the request out, or does what the faults want instead, and
// queues the answer. If functions are to be called before the answer goes out, it
// waits in the queue for the channel answered to be closed: its place has to be
// taken now, so that an event of a watch that this request has set cannot overtake
// the answer, while the server works on for others. s.mu is held.
func (x *exchange) process(f faults) (more bool, answered chan struct{}) {
	var answer []byte // nil: the connection stays silent
	switch {
	case f.dropRequest:
		x.last = true
	case f.mute:
		x.conn.mute = true
	case f.fail != ok:
		answer = x.refuse(f.fail)
	default:
		answer = x.run()
		x.req.Processed = true
	}
	switch {
	case f.muteReply:
		x.conn.mute, answer = true, nil
	case f.dropReply:
		x.last, answer = true, nil
	}
	x.srv.log.add(x.req)
	if len(f.callAfter) > 0 {
		answered = make(chan struct{})
	}
	x.conn.out.push(outFrame{bytes: answer, notBefore: f.replyTime(), gate: answered})
	switch {
	case x.conn.mute: // a black hole does not even end
		x.conn.out.seal()
		return true, answered
	case x.last:
		x.conn.out.finish()
		return false, answered
	}
	return true, answered
}

// run carries the request out and returns the frame of the answer, nil for none.
func (x *exchange) run() []byte {
	if op, isConnect := x.op.(*connectOp); isConnect {
		return op.connect(x)
	}
	x.touch()
	out := newReply()
	return x.reply(out, x.op.run(x, out))
}

// touch notes that the client has been heard of. An auth request does not count: a real server answers it on the spot
// (ZooKeeperServer.processPacket).
func (x *exchange) touch() {
	if x.req.Op != OpAuth {
		x.srv.touch(x.conn.sess)
	}
}

// refuse returns an answer with an error, without carrying anything out.
func (x *exchange) refuse(code Code) []byte {
	if op, isConnect := x.op.(*connectOp); isConnect {
		return op.reject(x)
	}
	x.touch()
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
	case x.req.Op == OpAuth:
		zxid = 0 // a client takes the zxid of a reply as proof that it has seen that much
	}
	return out.reply(xid, zxid, code)
}
