package zktest

// setDataOp is setData.
type setDataOp struct {
	pathOp
	data    []byte
	version int32
}

func decodeSetData(_ Op, d *decoder) write {
	return &setDataOp{pathOp{d.string()}, d.buffer(), d.int32()}
}

func (o *setDataOp) result() Op { return OpSetData }

func (o *setDataOp) apply(tx *txn, out *encoder) Code {
	n, code := tx.checked(o.path, permWrite)
	if code != ok {
		return code
	}
	if !tx.withinQuota(o.path, len(o.data)-len(n.data), 0) {
		return ErrQuotaExceeded
	}
	if o.version != anyVersion && o.version != n.version {
		return ErrBadVersion
	}
	tx.did(eventDataChanged, o.path, n, tx.tree.setData(o.path, o.data, tx.zxid, tx.now))
	out.stat(n.stat())
	return ok
}

// checked returns the node that a write is about, if path is well-formed and
// names a node for which the client has one of the permissions.
func (tx *txn) checked(path string, perms int32) (*node, Code) {
	if !validPath(path) {
		return nil, ErrBadArguments
	}
	n := tx.tree.nodes[path]
	switch {
	case n == nil:
		return nil, ErrNoNode
	case !tx.allows(n, perms):
		return nil, ErrNoAuth
	}
	return n, ok
}
