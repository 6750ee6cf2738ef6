package zktest

import (
	"maps"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// entry is one transaction as the leader sends it to the other members.
type entry struct {
	zxid    int64
	at      time.Time
	effects []datatree.Effect     // nil for a transaction that failed
	changes []datatree.NodeChange // the source of watch events
	end     sessionEnd
}

// sessionEnd is the end of a session as a part of a transaction. It is zero for a
// transaction that ends no session.
type sessionEnd struct {
	session *session
	closer  *conn // the connection on which the client has asked for the end, or nil
}

// leaderServerLocked returns the server that makes the transactions: the leader of an
// ensemble, or nil if there is none. For a standalone server, it returns that server.
func (c *cluster) leaderServerLocked() *Server {
	if c.ens == nil {
		return c.alone
	}
	if leader := c.ens.leader; leader != nil {
		return leader.Server
	}
	return nil
}

// writableLocked reports whether the server can make transactions now, if necessary
// through its leader. A closed standalone server still can, but no client notices.
func (s *Server) writableLocked() bool {
	if s.closed {
		return s.member == nil
	}
	return s.member == nil || s.member.canCommitLocked()
}

// commitLocked runs a transaction with the operations of the function do. A transaction
// takes one zxid, even if it fails, and its watch events are queued before commitLocked
// returns. In an ensemble, the leader makes the transaction, and must be reachable. The
// argument by is the connection of the request, or nil for a transaction of the server
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

// commitEndLocked runs the transaction that ends a session and deletes its ephemeral
// nodes.
func (c *cluster) commitEndLocked(end sessionEnd) {
	leader := c.leaderServerLocked()
	tx := leader.newTxnLocked(nil)
	for _, path := range tx.Tree.EphemeralsOf(end.session.id) {
		tx.Remove(path)
	}
	leader.finishTxnLocked(tx, end)
}

// newTxnLocked begins a transaction. The server must be the leader.
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

// takeZxidLocked makes a transaction that changes nothing and takes a zxid.
func (c *cluster) takeZxidLocked() {
	c.commitLocked(nil, func(*datatree.Txn) wire.Code { return wire.OK })
}

// finishTxnLocked publishes a transaction to the clients of the leader s, and sends it to
// the other members. A leader that lags also sends the transaction to itself.
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
		s.watches.RemoveAll(c) // at once, before the answer to the end of the session is sent
		if c != end.closer {
			c.closeByServerLocked()
		}
	}
}

// connsOfLocked returns the connections of a session to this server. In an ensemble, the
// server may still have a connection of a client that has moved to another member.
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

// reaper deletes empty containers and outdated nodes, for a server that makes
// transactions.
type reaper struct {
	srv  *Server
	next *alarm
}

// scheduleLocked sets the alarm for the next check, if there are nodes to check. Checks are
// at whole intervals since the start of the server.
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

// reapLocked deletes nodes, and returns how many it has deleted.
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
