package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

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
