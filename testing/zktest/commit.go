package zktest

import (
	"maps"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// entry is one transaction as the members of an ensemble tell each other of it.
type entry struct {
	zxid    int64
	at      time.Time
	effects []datatree.Effect     // nil for a transaction that failed
	changes []datatree.NodeChange // for the watches
	end     sessionEnd
}

// sessionEnd is the end of a session as a part of a transaction. The zero value
// stands for a transaction that ends no session.
type sessionEnd struct {
	session *session
	closer  *conn // the connection that asks for the end, or nil
}

// leaderServerLocked returns the server that makes the transactions. In an
// ensemble that is the leader, or nil if there is none; a standalone server is
// its own.
func (c *cluster) leaderServerLocked() *Server {
	if c.ens == nil {
		return c.alone
	}
	if leader := c.ens.leader; leader != nil {
		return leader.Server
	}
	return nil
}

// writableLocked reports whether the server can make transactions now, through
// its leader if need be. The data of a closed standalone server can still be
// changed; no client sees it.
func (s *Server) writableLocked() bool {
	if s.closed {
		return s.member == nil
	}
	return s.member == nil || s.member.canCommitLocked()
}

// commitLocked runs a transaction made of the operations of do: one zxid,
// whether it succeeds or not, and all of its watch events before commitLocked
// returns. In an ensemble the transaction is the leader's, which must be in
// reach. by is the connection that asks for the transaction, nil for the server
// itself.
func (c *cluster) commitLocked(by *conn, do func(tx *datatree.Txn) wire.Code) (created string, code wire.Code) {
	leader := c.leaderServerLocked()
	tx := leader.newTxnLocked(by)
	if code = do(tx); code == wire.OK {
		leader.overflow = tx.Overflow
	} else {
		tx.Rollback()
	}
	leader.finishTxnLocked(tx, sessionEnd{})
	return tx.Created, code
}

// commitEndLocked is the transaction that ends a session: it deletes the
// session's ephemeral nodes.
func (c *cluster) commitEndLocked(end sessionEnd) {
	leader := c.leaderServerLocked()
	tx := leader.newTxnLocked(nil)
	for _, path := range tx.Tree.EphemeralsOf(end.session.id) {
		tx.Remove(path)
	}
	leader.finishTxnLocked(tx, end)
}

// newTxnLocked begins a transaction of the server, which leads.
func (s *Server) newTxnLocked(c *conn) *datatree.Txn {
	if s.member != nil && s.member.lag != 0 {
		s.getAheadLocked()
	}
	tree, _ := s.madeLocked()
	tx := &datatree.Txn{
		Tree: tree, Zxid: s.nextZxidLocked(s.epoch), Now: s.cfg.WallClock().UnixMilli(),
		TTLNodes: !s.cfg.NoTTLNodes, Admin: c == nil,
	}
	if c != nil {
		tx.Session, tx.IDs = c.sess.id, c.ids
	}
	if c == nil || !c.behind.Load() {
		s.overflow = nil
	}
	tx.Overflow = maps.Clone(s.overflow)
	return tx
}

// takeZxidLocked is a transaction that does nothing but count.
func (c *cluster) takeZxidLocked() {
	c.commitLocked(nil, func(*datatree.Txn) wire.Code { return wire.OK })
}

// finishTxnLocked makes the clients of the leader, which is s, see a
// transaction, and tells the other members. A leader that lags tells itself,
// too.
func (s *Server) finishTxnLocked(tx *datatree.Txn, end sessionEnd) {
	if s.ahead != nil {
		s.ahead.zxid = tx.Zxid
	} else {
		s.zxid = tx.Zxid
		s.publishLocked(tx.Zxid, tx.Changes, end)
	}
	if s.member != nil {
		s.ens.replicateLocked(&entry{
			zxid: tx.Zxid, at: time.Now(), effects: tx.Tree.TakeEffects(), changes: tx.Changes, end: end,
		})
	}
	s.reaper.scheduleLocked()
}

// publishLocked sends the watch events of a transaction, and closes the
// connections of the session that the transaction ends.
func (s *Server) publishLocked(zxid int64, changes []datatree.NodeChange, end sessionEnd) {
	told := zxid
	if s.cfg.Version38 {
		told = -1
	}
	for _, change := range changes {
		s.fireLocked(change, told)
	}
	if end.session == nil {
		return
	}
	for _, c := range s.connsOfLocked(end.session) {
		s.watches.RemoveAll(c) // now, and not only when the answer to its closing has gone out
		if c != end.closer {
			c.closeByServerLocked()
		}
	}
}

// connsOfLocked returns the connections of a session to this server. In an
// ensemble a connection that the client has given up for one to another member
// may still be there.
func (s *Server) connsOfLocked(sess *session) []*conn {
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

// reaper deletes what is empty or outdated, on behalf of a server that makes
// transactions.
type reaper struct {
	srv  *Server
	next *alarm
}

// scheduleLocked sets the alarm for the next look, if there is something to
// look at. Looks are at whole intervals since the server began.
func (r *reaper) scheduleLocked() {
	s := r.srv
	tree, _ := s.madeLocked()
	if r.next != nil || !s.upLocked() || !tree.Reapable() {
		return
	}
	interval := s.cfg.ContainerCheckInterval
	wait := interval - time.Since(s.born)%interval
	var own *alarm
	own = s.afterLocked(wait, func() {
		s.mu.Lock()
		defer s.unlock()
		if r.next != own {
			return // the server was stopped while this alarm was going off
		}
		r.next = nil
		if s.leaderServerLocked() == s && s.writableLocked() && !s.paused {
			r.reapLocked()
			r.scheduleLocked()
		}
	})
	r.next = own
}

func (r *reaper) stopLocked() {
	r.next.stop()
	r.next = nil
}

// reapLocked returns how many nodes it has deleted.
func (r *reaper) reapLocked() int {
	tree, _ := r.srv.madeLocked()
	doomed := tree.Outdated(r.srv.cfg.WallClock().UnixMilli())
	for _, path := range doomed {
		r.srv.commitLocked(nil, func(tx *datatree.Txn) wire.Code {
			tx.Remove(path)
			return wire.OK
		})
	}
	return len(doomed)
}
