package zktest

import "time"

// The history of an ensemble. The leader makes transactions on its own tree, one
// after the other; what they did there is sent to the other members, which do it to
// theirs. A server on its own is its own leader and sends nothing.

// entry is one transaction as the members of an ensemble tell each other of it.
type entry struct {
	zxid    int64
	at      time.Time
	effects []effect  // nil for a transaction that failed
	changes []visible // for the watches
	ended   *session  // the session that ends with it, or nil
	closer  *conn     // the connection that asked for that end, or nil
}

// effect repeats on a tree what was done to another one.
type effect func(*tree)

func (t *tree) note(e effect) { t.effects = append(t.effects, e) }

// takeEffects returns what was done since the last call.
func (t *tree) takeEffects() []effect {
	taken := t.effects
	t.effects = nil
	return taken
}

// clone returns a tree of its own with the same nodes.
func (t *tree) clone() *tree {
	c := newTree()
	c.nodes = make(map[string]*node, len(t.nodes))
	t.walk("/", func(path string, n *node) {
		twin := *n
		twin.children = nil
		if path == "/" {
			c.nodes[path] = &twin
		} else {
			c.attach(path, &twin)
		}
	})
	c.noting = t.noting
	return c
}

// head is the server that makes the transactions: the leader, and nil if there is
// none; a server on its own is its own. s.mu is held.
func (s *Server) head() *Server {
	if s.member == nil {
		return s
	}
	if leader := s.member.ens.leader; leader != nil {
		return leader.Server
	}
	return nil
}

// writable reports whether the server can make transactions now, through its leader
// if need be.
func (s *Server) writable() bool {
	if s.closed {
		return s.member == nil // the data of a closed server can still be changed; nobody sees it
	}
	return s.member == nil || s.member.linked()
}

// nextZxid numbers the next transaction: the epoch is in the upper half.
func (s *Server) nextZxid() int64 { return max(s.zxid, s.epoch<<32) + 1 }

// finishTxn makes the leader's own clients see a transaction and tells the other
// members. s is the head.
func (s *Server) finishTxn(tx *txn) {
	s.zxid = tx.zxid
	s.show(tx.zxid, tx.changes, tx.ended, tx.closer)
	if s.member != nil {
		s.member.ens.publish(&entry{
			zxid: tx.zxid, at: s.clock.Now(), effects: tx.tree.takeEffects(),
			changes: tx.changes, ended: tx.ended, closer: tx.closer,
		})
	}
	s.scheduleReaper()
}

// show sends the watch events of a transaction and lets the clients of an ended
// session go.
func (s *Server) show(zxid int64, changes []visible, ended *session, closer *conn) {
	for _, v := range changes {
		s.fire(v, zxid)
	}
	if ended == nil {
		return
	}
	for _, c := range s.connsOf(ended) {
		s.watches.removeConn(c) // and not only when the answer to its closing has gone out
		if c != closer {
			c.sever()
		}
	}
}

// connsOf returns the connections of a session to this server. In an ensemble a
// connection that the client has given up for one to another member may still be there.
func (s *Server) connsOf(sess *session) []*conn {
	if s.member == nil {
		if sess.conn == nil {
			return nil
		}
		return []*conn{sess.conn}
	}
	var conns []*conn
	for c := range s.conns {
		if c.sess == sess {
			conns = append(conns, c)
		}
	}
	return conns
}

// publish sends a transaction of the leader to those who follow it.
func (e *Ensemble) publish(ent *entry) {
	for _, m := range e.members {
		if m == e.leader || !m.follows(e.leader) {
			continue
		}
		m.queue = append(m.queue, ent)
		if m.reaches(e.leader) {
			m.received = len(m.queue)
			m.advance()
		}
	}
}

// advance applies what has been received and is due, and sets the alarm for the rest.
func (m *Member) advance() {
	if m.frozen {
		return
	}
	now := m.clock.Now()
	for m.received > 0 && !m.dueTime().After(now) {
		m.applyNext()
	}
	m.applying.stop()
	m.applying = nil
	if m.received > 0 && m.lag != Forever {
		m.applying = m.after(m.dueTime().Sub(now), func() {
			m.mu.Lock()
			defer m.unlock()
			m.advance()
		})
	}
}

// dueTime is when the next transaction is to be applied.
func (m *Member) dueTime() time.Time {
	if m.lag == Forever {
		return m.clock.Now().Add(Forever)
	}
	return m.queue[0].at.Add(m.lag)
}

// applyNext applies one transaction and lets the answers go that wait for it.
func (m *Member) applyNext() {
	ent := m.queue[0]
	m.queue[0] = nil
	m.queue = m.queue[1:]
	m.received--
	for _, do := range ent.effects {
		do(m.tree)
	}
	m.tree.takeEffects() // which nobody needs twice
	m.zxid = ent.zxid
	m.show(ent.zxid, ent.changes, ent.ended, ent.closer)
	m.settle()
}

// settle sends the answers that waited for what has been applied. An answer to a
// write goes out behind the events of that write and before those of the next.
func (m *Member) settle() {
	waiting := m.settling
	m.settling = nil
	for _, x := range waiting {
		if x.settleAt > m.zxid {
			m.settling = append(m.settling, x)
			continue
		}
		x.settleNow()
	}
}
