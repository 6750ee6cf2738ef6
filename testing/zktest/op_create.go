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
