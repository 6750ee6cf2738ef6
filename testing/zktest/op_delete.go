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

// deleteContainerOp is deleteContainer, by which a real server deletes
// containers and nodes whose time is up. A client may send it too, and needs no
// permission; plain nodes are deleted as well, only ephemeral ones are safe
// from it.
type deleteContainerOp struct{ pathOp }

func decodeDeleteContainer(d *wire.Decoder) operation { return deleteContainerOp{pathOp{d.String()}} }

func (o deleteContainerOp) runLocked(x *exchange, _ *wire.Encoder) wire.Code {
	_, code := x.srv.commitLocked(x.conn, func(tx *datatree.Txn) wire.Code { return tx.DeleteContainer(o.path) })
	return code
}
