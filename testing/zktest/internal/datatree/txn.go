package datatree

import "github.com/gocurator/curator/testing/zktest/internal/wire"

// Txn is a transaction in progress. Each operation changes the tree at once, so later
// operations see its effect. Rollback undoes all operations. An operation that does not
// return [wire.OK] has not changed the tree.
type Txn struct {
	Tree     *Tree
	Zxid     int64
	Now      int64 // milliseconds since 1970
	Session  int64
	IDs      []wire.ID // the identities of the client
	Admin    bool      // no ACL applies, because the transaction is the server's or an operator's
	TTLNodes bool      // nodes with a TTL are enabled

	// Overflow has the next sequence numbers of parents whose sequences have overflowed.
	// It is nil if there are none. Each transaction of a batch starts with the map of
	// the previous one.
	Overflow map[*Node]int32

	Changes []NodeChange // for the watches, after the whole transaction has succeeded
	Created string       // the path of the last created node

	undo []func()
}

// NodeChange is a change with the ACLs at the time of the change. Only clients that may read
// the node get the event. For a change of the parent's children, a client must have the right
// to read the parent.
type NodeChange struct {
	Change
	ACL, ParentACL []wire.ACL
}

// record records a change of a node, for the watches and for the rollback.
func (tx *Txn) record(event wire.EventType, path string, n *Node, undo func()) {
	tx.Changes = append(tx.Changes, NodeChange{Change{event, path}, n.ACL, tx.Tree.nodes[ParentOf(path)].ACL})
	tx.undo = append(tx.undo, undo)
}

// Rollback undoes all operations of the transaction.
func (tx *Txn) Rollback() {
	for i := len(tx.undo) - 1; i >= 0; i-- {
		tx.undo[i]()
	}
	tx.Changes, tx.undo, tx.Created = nil, nil, ""
	tx.Tree.TakeEffects()
}

func (tx *Txn) allows(n *Node, perms int32) bool {
	return tx.Admin || Permitted(n.ACL, tx.IDs, perms)
}

// sequence returns the suffix of the next sequential child. After 2^31-1, a transaction, or a
// batch of transactions, continues at -2^31. The tree does not store these suffixes.
func (tx *Txn) sequence(parent *Node) int32 {
	if next, isBeyond := tx.Overflow[parent]; isBeyond {
		return next
	}
	return parent.Created
}

// counted records the suffix after a create, if the tree does not store it.
func (tx *Txn) counted(parent *Node, next int32) {
	if next == parent.Created {
		return
	}
	if tx.Overflow == nil {
		tx.Overflow = make(map[*Node]int32)
	}
	tx.Overflow[parent] = next
}
