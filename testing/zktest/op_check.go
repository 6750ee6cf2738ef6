package zktest

// checkOp is check: a condition, and as far as ZooKeeper 3.9 only inside a multi.
type checkOp struct {
	pathOp
	version int32
}

func decodeCheck(_ Op, d *decoder) write {
	return &checkOp{pathOp{d.string()}, d.int32()}
}

func (o *checkOp) result() Op { return OpCheck }

func (o *checkOp) apply(tx *txn, _ *encoder) Code {
	n, code := tx.checked(o.path, permRead)
	if code != ok {
		return code
	}
	if o.version != anyVersion && o.version != n.version {
		return ErrBadVersion
	}
	return ok
}
