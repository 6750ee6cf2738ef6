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

// deleteContainerOp is deleteContainer, by which a real server deletes containers and nodes whose time is up. A client
// may send it too, and needs no permission; plain nodes are deleted as well, only ephemeral ones are safe from it.
type deleteContainerOp struct{ pathOp }

func decodeDeleteContainer(d *decoder) operation { return deleteContainerOp{pathOp{d.string()}} }

func (o deleteContainerOp) run(x *exchange, _ *encoder) Code {
	_, code := x.srv.commit(x.conn, func(tx *txn) Code {
		n := tx.tree.nodes[o.path]
		switch {
		case !strings.Contains(o.path, "/") || hasNUL(o.path) || reserved(o.path):
			return ErrBadArguments
		case n == nil:
			return ErrNoNode
		case len(n.children) > 0:
			return ErrNotEmpty
		case n.kind == ephemeral:
			return ErrBadVersion
		}
		tx.remove(o.path)
		return ok
	})
	return code
}

// anyVersion switches the version check off.
const anyVersion int32 = -1
