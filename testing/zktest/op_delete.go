package zktest

import "strings"

// deleteOp is delete.
type deleteOp struct {
	pathOp
	version int32
}

func decodeDelete(_ Op, d *decoder) write {
	return &deleteOp{pathOp{d.string()}, d.int32()}
}

func (o *deleteOp) result() Op { return OpDelete }

func (o *deleteOp) apply(tx *txn, _ *encoder) Code {
	if !strings.Contains(o.path, "/") || hasNUL(o.path) || reserved(o.path) {
		return ErrBadArguments
	}
	parent, n := tx.tree.nodes[parentOf(o.path)], tx.tree.nodes[o.path]
	switch {
	case parent == nil:
		return ErrNoNode
	case !tx.allows(parent, permDelete):
		return ErrNoAuth
	case n == nil:
		return ErrNoNode
	case o.version != anyVersion && o.version != n.version:
		return ErrBadVersion
	case len(n.children) > 0:
		return ErrNotEmpty
	}
	tx.remove(o.path)
	return ok
}

// anyVersion switches the version check off.
const anyVersion int32 = -1
