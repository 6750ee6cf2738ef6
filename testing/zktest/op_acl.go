package zktest

// getACLOp is getACL.
type getACLOp struct{ pathOp }

func decodeGetACL(d *decoder) operation { return getACLOp{pathOp{d.string()}} }

func (o getACLOp) run(x *exchange, out *encoder) Code {
	n, code := x.find(o.path, permRead|permAdmin)
	if code != ok {
		return code
	}
	acl := n.acl
	if len(acl) == 0 {
		acl = openACL
	}
	if !permitted(n.acl, x.conn.ids, permAdmin) {
		acl = maskDigests(acl)
	}
	out.acls(acl)
	out.stat(n.stat())
	return ok
}

// setACLOp is setACL. It is a transaction, but nobody is notified of it.
type setACLOp struct {
	pathOp
	acl     []ACL
	version int32
}

func decodeSetACL(d *decoder) operation {
	return &setACLOp{pathOp{d.string()}, d.acls(), d.int32()}
}

func (o *setACLOp) run(x *exchange, out *encoder) Code {
	_, code := x.srv.commit(x.conn, func(tx *txn) Code { return o.apply(tx, out) })
	return code
}

// apply compares the version with the ACL's own version.
func (o *setACLOp) apply(tx *txn, out *encoder) Code {
	if !validPath(o.path) {
		return ErrBadArguments
	}
	acl := fixACL(o.acl, tx.ids)
	if acl == nil {
		return ErrInvalidACL
	}
	n, code := tx.checked(o.path, permAdmin)
	if code != ok {
		return code
	}
	if o.version != anyVersion && o.version != n.aversion {
		return ErrBadVersion
	}
	tx.tree.setACL(o.path, acl)
	out.stat(n.stat())
	return ok
}
