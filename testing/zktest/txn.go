package zktest

import "maps"

// txn is one transaction under construction. Its operations take effect on the
// tree at once, so that later ones see earlier ones, and can be rolled back. The
// watch events wait in changes until the whole transaction has succeeded.
//
// A txn needs only a tree: no server, no clock.
type txn struct {
	tree    *tree
	zxid    int64
	now     int64 // milliseconds since 1970
	session int64
	ids     []ID // who asks
	super   bool // no ACL applies: the server itself, or the test's hand
	ttl     bool // nodes with a TTL are enabled

	changes []visible
	undo    []func()
	created string          // path of the last node created
	beyond  map[*node]int32 // where sequences have come beyond their end; nil if none

	quotas  bool                  // hard limits are enforced
	charged map[string]quotaUsage // what this transaction has added below each quota so far

	ended  *session // the session that ends with the transaction, or nil
	closer *conn    // the connection that asks for that end, or nil
}

// visible is a change together with who may hear of it: whoever may read the node, or
// for its parent's children, the parent. The ACLs are those at the time of the change.
type visible struct {
	change
	acl, parentACL []ACL
}

// did notes an effect on the node n at path, for the watches and for the rollback.
func (tx *txn) did(event eventType, path string, n *node, undo func()) {
	tx.changes = append(tx.changes, visible{change{event, path}, n.acl, tx.tree.nodes[parentOf(path)].acl})
	tx.undo = append(tx.undo, undo)
}

func (tx *txn) rollback() {
	for i := len(tx.undo) - 1; i >= 0; i-- {
		tx.undo[i]()
	}
	tx.changes, tx.undo, tx.created, tx.charged = nil, nil, "", nil
	tx.tree.takeEffects()
}

func (tx *txn) allows(n *node, perms int32) bool {
	return tx.super || permitted(n.acl, tx.ids, perms)
}

// remove deletes a node that is known to have no children.
func (tx *txn) remove(path string) {
	n := tx.tree.nodes[path]
	tx.did(eventDeleted, path, n, tx.tree.remove(path, tx.zxid))
}

// sequence returns the suffix of the next sequential child. Within a transaction, and
// among those that are under way together, it goes on after 2^31-1, at -2^31. The tree
// does not remember that.
func (tx *txn) sequence(parent *node) int32 {
	if next, isBeyond := tx.beyond[parent]; isBeyond {
		return next
	}
	return parent.created
}

// counted notes what the suffix after a create is, if the tree does not.
func (tx *txn) counted(parent *node, next int32) {
	if next == parent.created {
		return
	}
	if tx.beyond == nil {
		tx.beyond = make(map[*node]int32)
	}
	tx.beyond[parent] = next
}

// write is a request that changes the tree, alone or as a part of a multi.
type write interface {
	// target is the path the request is about.
	target() string
	// result is the type of the answer inside a multi.
	result() Op
	// apply checks and performs the request and writes the body of the answer.
	// If the code is not ok, the tree is as it was before.
	apply(tx *txn, out *encoder) Code
}

// commit runs a transaction made of the operations of do: one zxid, whether it
// succeeds or not, and all of its watch events before commit returns. In an ensemble
// the transaction is the leader's, which must be in reach. s.mu is held.
func (s *Server) commit(c *conn, do func(tx *txn) Code) (created string, code Code) {
	head := s.head()
	tx := &txn{
		tree: head.tree, zxid: head.nextZxid(), now: head.nowMillis(),
		ttl: s.cfg.ttl, quotas: s.cfg.enforceQuotas, super: c == nil,
	}
	if c != nil {
		tx.session, tx.ids = c.sess.id, c.ids
	}
	if c == nil || !c.behind {
		head.beyond = nil
	}
	tx.beyond = maps.Clone(head.beyond)
	if code = do(tx); code == ok {
		head.beyond = tx.beyond
	} else {
		tx.rollback()
	}
	head.finishTxn(tx)
	return tx.created, code
}

// takeZxid is a transaction that does nothing but count.
func (s *Server) takeZxid() {
	s.commit(nil, func(*txn) Code { return ok })
}

// fire sends the watch events of one change to those who may read the node. For the
// others the event is lost, and so is a watch that was good for one. s.mu is held.
func (s *Server) fire(v visible, zxid int64) {
	if s.cfg.oldWatches {
		zxid = -1
	}
	s.watches.fire(v.change, func(to connSet, ev change) {
		frame := notification(ev.event, ev.path, zxid) // shared: nobody changes it
		acl := v.acl
		if ev.event == eventChildrenChanged {
			acl = v.parentACL
		}
		for c := range to {
			if permitted(acl, c.ids, permRead) {
				c.notify(frame)
			}
		}
	})
}

// notify sends a watch event. s.mu is held.
func (c *conn) notify(frame []byte) {
	c.srv.notified++
	c.traffic.sent++
	c.srv.traffic.sent++
	c.out.push(outFrame{bytes: frame, event: true})
}

// alone makes a write a request of its own.
type alone struct{ write }

func (a alone) run(x *exchange, out *encoder) Code {
	created, code := x.srv.commit(x.conn, func(tx *txn) Code { return a.apply(tx, out) })
	x.req.Created = created
	return code
}
