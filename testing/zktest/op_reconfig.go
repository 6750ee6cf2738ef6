package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// reconfigOp is reconfig. As on a server with its default configuration, it is
// switched off.
type reconfigOp struct{ pathless }

// decodeReconfig reads the joining, leaving and new members, and the version of the configuration to replace.
func decodeReconfig(d *wire.Decoder) operation {
	for range 3 {
		d.Buffer()
	}
	d.Int64()
	return reconfigOp{}
}

func (reconfigOp) runLocked(x *exchange, _ *wire.Encoder) wire.Code {
	_, code := x.srv.commitLocked(x.conn, func(*datatree.Txn) wire.Code { return wire.ErrReconfigDisabled })
	return code
}
