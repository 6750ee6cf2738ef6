package datatree

import "github.com/gocurator/curator/testing/zktest/internal/wire"

// Txn is one transaction under construction. The operations take effect on the
// tree at once, so that later ones see earlier ones, and can be rolled back. An
// operation that does not return [wire.OK] leaves the tree as it was.
type Txn struct {
	Tree     *Tree
	Zxid     int64
	Now      int64 // milliseconds since 1970
	Session  int64
	IDs      []wire.ID // the identities of the client
	Admin    bool      // no ACL applies: the server itself, or the test's operator
	TTLNodes bool      // nodes with a TTL are enabled

	// Overflow holds the next sequence numbers of parents whose sequences have
	// come beyond their end; nil if there are none. The server hands it on from
	// one transaction to the next of the same batch.
	Overflow map[*Node]int32

	Changes []NodeChange // for the watches, once the whole transaction has succeeded
	Created string       // path of the last node created

	undo []func()
}

// NodeChange is a change together with the ACLs at the time of the change. They
// decide who may learn of it: the readers of the node, or for a change of its
// parent's children, the readers of the parent.
type NodeChange struct {
	Change
	ACL, ParentACL []wire.ACL
}

// record notes an effect on the node n at path, for the watches and for the
// rollback.
func (tx *Txn) record(event wire.EventType, path string, n *Node, undo func()) {
	tx.Changes = append(tx.Changes, NodeChange{Change{event, path}, n.ACL, tx.Tree.nodes[ParentOf(path)].ACL})
	tx.undo = append(tx.undo, undo)
}

// Rollback undoes everything that the transaction has done.
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

// sequence returns the suffix of the next sequential child. Within a
// transaction, and among transactions that are under way together, it goes on
// after 2^31-1, at -2^31. The tree does not remember that.
func (tx *Txn) sequence(parent *Node) int32 {
	if next, isBeyond := tx.Overflow[parent]; isBeyond {
		return next
	}
	return parent.Created
}

// counted notes what the suffix after a create is, if the tree does not.
func (tx *Txn) counted(parent *Node, next int32) {
	if next == parent.Created {
		return
	}
	if tx.Overflow == nil {
		tx.Overflow = make(map[*Node]int32)
	}
	tx.Overflow[parent] = next
}
