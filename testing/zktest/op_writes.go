package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// createOp is create, create2, createContainer and createTTL.
type createOp struct{ wire.CreateRequest }

func decodeCreate(op wire.Op, d *wire.Decoder) write {
	return &createOp{wire.DecodeCreate(op, d)}
}

func (o *createOp) target() string { return o.Path }

func (o *createOp) result() wire.Op {
	if o.Op == wire.OpCreate {
		return wire.OpCreate
	}
	return wire.OpCreate2
}

func (o *createOp) apply(tx *datatree.Txn, out *wire.Encoder) wire.Code {
	path, code := tx.Create(&o.CreateRequest)
	if code != wire.OK {
		return code
	}
	out.String(path)
	if o.Op != wire.OpCreate {
		out.Stat(tx.Tree.Node(path).Stat())
	}
	return wire.OK
}

// deleteOp is delete.
type deleteOp struct {
	pathOp
	version int32
}

func decodeDelete(_ wire.Op, d *wire.Decoder) write {
	return &deleteOp{pathOp{d.String()}, d.Int32()}
}

func (o *deleteOp) result() wire.Op { return wire.OpDelete }

func (o *deleteOp) apply(tx *datatree.Txn, _ *wire.Encoder) wire.Code {
	return tx.Delete(o.path, o.version)
}

// setDataOp is setData.
type setDataOp struct {
	pathOp
	data    []byte
	version int32
}

func decodeSetData(_ wire.Op, d *wire.Decoder) write {
	return &setDataOp{pathOp{d.String()}, d.Buffer(), d.Int32()}
}

func (o *setDataOp) result() wire.Op { return wire.OpSetData }

func (o *setDataOp) apply(tx *datatree.Txn, out *wire.Encoder) wire.Code {
	stat, code := tx.SetData(o.path, o.data, o.version)
	if code == wire.OK {
		out.Stat(stat)
	}
	return code
}

// checkOp is check: a condition, and as far as ZooKeeper 3.9 only inside a
// multi.
type checkOp struct {
	pathOp
	version int32
}

func decodeCheck(_ wire.Op, d *wire.Decoder) write {
	return &checkOp{pathOp{d.String()}, d.Int32()}
}

func (o *checkOp) result() wire.Op { return wire.OpCheck }

func (o *checkOp) apply(tx *datatree.Txn, _ *wire.Encoder) wire.Code {
	return tx.Check(o.path, o.version)
}

// setACLOp is setACL. It is a transaction without a watch event.
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
