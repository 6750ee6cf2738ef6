package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// multiReadOp is multiRead: several getData and getChildren in one request,
// each with a result or an error of its own.
type multiReadOp struct{ reads []multiReadItem }

type multiReadItem struct {
	kind wire.Op
	op   operation
}

func decodeMultiRead(d *wire.Decoder) operation {
	o := &multiReadOp{}
	for d.Err == nil {
		kind, done := decodeMultiHeader(d)
		if done {
			break
		}
		switch kind {
		case wire.OpGetData:
			o.reads = append(o.reads, multiReadItem{kind, getDataOp{decodeUnwatching(d)}})
		case wire.OpGetChildren:
			o.reads = append(o.reads, multiReadItem{kind, getChildrenOp{decodeUnwatching(d), false}})
		default:
			d.Err = wire.ErrMalformed
		}
	}
	return o
}

// decodeUnwatching reads a part and overlooks its wish to leave a watch, as
// Java does.
func decodeUnwatching(d *wire.Decoder) watchingOp {
	o := decodeWatching(d)
	o.watch = false
	return o
}

func (o *multiReadOp) target() string {
	if len(o.reads) == 0 {
		return ""
	}
	return o.reads[0].op.target()
}

func (o *multiReadOp) targets() []string {
	paths := make([]string, len(o.reads))
	for i, r := range o.reads {
		paths[i] = r.op.target()
	}
	return paths
}

func (o *multiReadOp) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	for _, r := range o.reads {
		if len(out.Buf) > maxQueued {
			break // the connection ends by that
		}
		start := len(out.Buf)
		out.MultiHeader(r.kind, false, wire.OK)
		if code := r.op.runLocked(x, out); code != wire.OK {
			out.Buf = out.Buf[:start]
			if x.srv.cfg.keeper {
				out.MultiHeader(r.kind, false, code)
				continue
			}
			out.MultiHeader(wire.OpError, false, code)
			out.Int32(int32(code))
		}
	}
	out.MultiHeader(wire.OpError, true, wire.ErrEnd)
	return wire.OK
}
