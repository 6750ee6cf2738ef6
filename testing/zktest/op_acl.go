package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// getACLOp is getACL.
type getACLOp struct{ pathOp }

func decodeGetACL(d *wire.Decoder) operation { return getACLOp{pathOp{d.String()}} }

func (o getACLOp) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	n, code := x.findLocked(o.path, wire.PermRead|wire.PermAdmin)
	if code != wire.OK {
		return code
	}
	acl := n.ACL
	if len(acl) == 0 {
		acl = datatree.OpenACL
	}
	if !datatree.Permitted(n.ACL, x.conn.ids, wire.PermAdmin) {
		acl = datatree.MaskDigests(acl)
	}
	out.ACLs(acl)
	out.Stat(n.Stat())
	return wire.OK
}

// setACLOp is setACL. It is a transaction, but nobody is notified of it.
type setACLOp struct {
	pathOp
	acl     []wire.ACL
	version int32
}

func decodeSetACL(d *wire.Decoder) operation {
	return &setACLOp{pathOp{d.String()}, d.ACLs(), d.Int32()}
}

func (o *setACLOp) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	_, code := x.srv.commitLocked(x.conn, func(tx *datatree.Txn) wire.Code {
		stat, code := tx.SetACL(o.path, o.acl, o.version)
		if code == wire.OK {
			out.Stat(stat)
		}
		return code
	})
	return code
}
