package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

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
