package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// pingOp is ping. The use of a ping is that it touches the session, as every
// request does.
type pingOp struct{ pathless }

func decodePing(*wire.Decoder) operation { return pingOp{} }

func (pingOp) runLocked(*exchange, *wire.Encoder) wire.Code { return wire.OK }

// syncOp is sync. The answer waits until the server has caught up with the
// leader: see exchange.awaitZxid.
type syncOp struct{ pathOp }

func decodeSync(d *wire.Decoder) operation { return syncOp{pathOp{d.Nullable()}} }

func (o syncOp) runLocked(_ *exchange, out *wire.Encoder) wire.Code {
	out.String(o.path)
	return wire.OK
}

// closeSessionOp is the client's own end of its session.
type closeSessionOp struct{ pathless }

func decodeCloseSession(*wire.Decoder) operation { return closeSessionOp{} }

func (closeSessionOp) runLocked(x *exchange, _ *wire.Encoder) wire.Code {
	x.conn.sess.endLocked(x.conn)
	x.last = true
	return wire.OK
}
