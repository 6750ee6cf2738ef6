package zktest

import (
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// others decodes the requests that only stand alone.
var others = map[wire.Op]func(*wire.Decoder) operation{
	wire.OpExists:        decodeExists,
	wire.OpGetData:       decodeGetData,
	wire.OpGetACL:        decodeGetACL,
	wire.OpSetACL:        decodeSetACL,
	wire.OpGetChildren:   decodeGetChildren,
	wire.OpGetChildren2:  decodeGetChildren2,
	wire.OpGetEphemerals: decodeGetEphemerals,
	wire.OpSync:          decodeSync,
	wire.OpPing:          decodePing,
	wire.OpMulti:         decodeMulti,
	wire.OpMultiRead:     decodeMultiRead,
	wire.OpAuth:          decodeAuth,
	wire.OpSASL:          decodeSASL,
	wire.OpSetWatches:    decodeSetWatches,
	wire.OpSetWatches2:   decodeSetWatches2,
	wire.OpAddWatch:      decodeAddWatch,
	wire.OpCheckWatches:  decodeCheckWatches,
	wire.OpRemoveWatches: decodeRemoveWatches,
	wire.OpCloseSession:  decodeCloseSession,
}

// decodeRequest reads a frame. The error is about the header; a request that is
// unknown, or whose body cannot be read, is an operation too, and gets an
// answer.
func decodeRequest(frame []byte) (xid int32, kind wire.Op, op operation, err error) {
	d := &wire.Decoder{Buf: frame}
	xid, kind = d.Int32(), wire.Op(d.Int32())
	if d.Err != nil {
		return 0, 0, nil, d.Err
	}
	if decode, known := writes[kind]; known {
		op = alone{decode(kind, d)}
	} else if decode, known := others[kind]; known {
		op = decode(d)
	} else {
		return xid, kind, unknownOp{}, nil
	}
	_, isWrite := writes[kind]
	switch {
	case d.Err != nil && answeredOnTheSpot(kind):
		return 0, 0, nil, d.Err // a real server reads it where it reads the header
	case d.Err != nil:
		op = malformedOp{takesZxid: kind == wire.OpMulti}
	case d.Null && kind != wire.OpAuth:
		op = malformedOp{takesZxid: isWrite || kind == wire.OpMulti || kind == wire.OpSetACL}
	}
	return xid, kind, op, nil
}

// decodeRequest makes an exchange of a frame that follows the handshake.
func (c *conn) decodeRequest(frame []byte) (*exchange, error) {
	xid, kind, op, err := decodeRequest(frame)
	if err != nil {
		return nil, err
	}
	if c.srv.cfg.ClickHouseKeeper && isUnknownToKeeper(kind) {
		return nil, errNotInKeeper
	}
	x := &exchange{srv: c.srv, conn: c, op: op}
	_, x.unknown = op.(unknownOp)
	x.req = Request{Time: time.Now(), Member: c.srv.number(), Conn: c.id, Xid: xid, Op: kind, Path: op.target()}
	if w, reads := op.(interface{ watches() bool }); reads {
		x.req.Watch = w.watches()
	}
	return x, nil
}
