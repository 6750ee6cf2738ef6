package zktest

import (
	"maps"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// leaderServerLocked returns the server that makes the transactions. In an
// ensemble that is the leader, or nil if there is none; a server on its own is
// its own.
func (s *Server) leaderServerLocked() *Server {
	if s.member == nil {
		return s
	}
	if leader := s.member.ens.leader; leader != nil {
		return leader.Server
	}
	return nil
}

// writableLocked reports whether the server can make transactions now, through
// its leader if need be. The data of a closed server on its own can still be
// changed; no client sees it.
func (s *Server) writableLocked() bool {
	if s.closed {
		return s.member == nil
	}
	return s.member == nil || s.member.canCommitLocked()
}

// nextZxidLocked numbers the next transaction: the epoch is in the upper half.
func (s *Server) nextZxidLocked() int64 { return max(s.zxid, s.epoch<<32) + 1 }

// commitLocked runs a transaction made of the operations of do: one zxid,
// whether it succeeds or not, and all of its watch events before commitLocked
// returns. In an ensemble the transaction is the leader's, which must be in
// reach. c is the connection that asks for the transaction, nil for the server
// itself.
func (s *Server) commitLocked(c *conn, do func(tx *datatree.Txn) wire.Code) (created string, code wire.Code) {
	leader := s.leaderServerLocked()
	tx := leader.newTxnLocked(c)
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
func (s *Server) commitEndLocked(end sessionEnd) {
	leader := s.leaderServerLocked()
	tx := leader.newTxnLocked(nil)
	for _, path := range tx.Tree.EphemeralsOf(end.session.id) {
		tx.Remove(path)
	}
	leader.finishTxnLocked(tx, end)
}

func (s *Server) newTxnLocked(c *conn) *datatree.Txn {
	tx := &datatree.Txn{
		Tree: s.tree, Zxid: s.nextZxidLocked(), Now: s.nowMillisLocked(),
		TTLNodes: s.cfg.ttl, EnforceQuotas: s.cfg.enforceQuotas, Admin: c == nil,
	}
	if c != nil {
		tx.Session, tx.IDs = c.sess.id, c.ids
	}
	if c == nil || !c.behind {
		s.overflow = nil
	}
	tx.Overflow = maps.Clone(s.overflow)
	return tx
}

// takeZxidLocked is a transaction that does nothing but count.
func (s *Server) takeZxidLocked() {
	s.commitLocked(nil, func(*datatree.Txn) wire.Code { return wire.OK })
}

// sessionEnd is the end of a session as a part of a transaction. The zero value
// stands for a transaction that ends no session.
type sessionEnd struct {
	session *session
	closer  *conn // the connection that asks for the end, or nil
}

// finishTxnLocked makes the clients of the leader, which is s, see a
// transaction, and tells the other members.
func (s *Server) finishTxnLocked(tx *datatree.Txn, end sessionEnd) {
	s.zxid = tx.Zxid
	s.publishLocked(tx.Zxid, tx.Changes, end)
	if s.member != nil {
		s.member.ens.replicateLocked(&entry{
			zxid: tx.Zxid, at: time.Now(), effects: tx.Tree.TakeEffects(), changes: tx.Changes, end: end,
		})
	}
	s.scheduleReaperLocked()
}

// publishLocked sends the watch events of a transaction, and closes the
// connections of the session that the transaction ends.
func (s *Server) publishLocked(zxid int64, changes []datatree.NodeChange, end sessionEnd) {
	for _, change := range changes {
		s.fireLocked(change, zxid)
	}
	if end.session == nil {
		return
	}
	for _, c := range s.connsOfLocked(end.session) {
		s.watches.RemoveAll(c) // and not only when the answer to its closing has gone out
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

// fireLocked sends the watch events of one change to the clients that may read
// the node. For the others the event is lost, and so is a watch that was good
// for one.
func (s *Server) fireLocked(change datatree.NodeChange, zxid int64) {
	if s.cfg.version38 {
		zxid = -1
	}
	s.watches.Fire(change.Change, func(to map[*conn]struct{}, ev datatree.Change) {
		frame := wire.Notification(ev.Event, ev.Path, zxid) // shared: nobody changes it
		acl := change.ACL
		if ev.Event == wire.EventChildrenChanged {
			acl = change.ParentACL
		}
		for c := range to {
			if datatree.Permitted(acl, c.ids, wire.PermRead) {
				c.notifyLocked(frame)
			}
		}
	})
}

// notifyLocked sends a watch event.
func (c *conn) notifyLocked(frame []byte) {
	c.srv.notified++
	c.traffic.sent++
	c.srv.traffic.sent++
	c.out.push(outFrame{bytes: frame})
}
