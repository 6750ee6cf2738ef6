package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

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
