package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// writes decodes the requests that may stand alone or in a multi.
var writes = map[wire.Op]func(wire.Op, *wire.Decoder) write{
	wire.OpCreate:          decodeCreate,
	wire.OpCreate2:         decodeCreate,
	wire.OpCreateContainer: decodeCreate,
	wire.OpCreateTTL:       decodeCreate,
	wire.OpDelete:          decodeDelete,
	wire.OpSetData:         decodeSetData,
}

// multiOp is the request multi: all of its operations or none, under one zxid.
type multiOp struct{ ops []write }

func decodeMulti(d *wire.Decoder) operation {
	o := &multiOp{}
	for d.Err == nil {
		kind, done := decodeMultiHeader(d)
		if done {
			break
		}
		switch decode, known := writes[kind]; {
		case known:
			o.ops = append(o.ops, decode(kind, d))
		case kind == wire.OpCheck:
			o.ops = append(o.ops, decodeCheck(kind, d))
		default:
			d.Err = wire.ErrMalformed
		}
	}
	return o
}

func decodeMultiHeader(d *wire.Decoder) (kind wire.Op, done bool) {
	kind, done = wire.Op(d.Int32()), d.Bool()
	d.Int32() // an error code, without meaning in a request
	return kind, done
}

// fixModes calls fixModeInMulti for all creates.
func (o *multiOp) fixModes(before39 bool) bool {
	for _, op := range o.ops {
		c, isCreate := op.(*createOp)
		switch {
		case !isCreate:
		case before39 && !c.fixModeInMulti38(), !before39 && !c.fixModeInMulti():
			return false
		}
	}
	return true
}

// fixModeInMulti makes the flags of a create decide the kind of the node, as in Java's
// decoder of a multi. Outside a multi, the type of the request decides. fixModeInMulti
// returns false for flags that Java's decoder cannot read.
func (o *createOp) fixModeInMulti() bool {
	switch {
	case o.Flags < 0 || o.Flags > wire.MaxFlags:
		return false
	case o.Flags == wire.FlagContainer:
		o.Op = wire.OpCreateContainer
	case o.HasTTL() && o.Op != wire.OpCreateTTL:
		return false
	case !o.HasTTL() && o.Op == wire.OpCreateTTL:
		o.Op = wire.OpCreate
	}
	return true
}

// fixModeInMulti38 does the same for a server of version 3.8.0. That server accepts unknown
// flags and then fails to carry the create out.
func (o *createOp) fixModeInMulti38() bool {
	switch {
	case o.HasTTL():
		return o.Op == wire.OpCreateTTL
	case o.Flags == wire.FlagContainer:
		o.Op = wire.OpCreateContainer
	default:
		o.Op = wire.OpCreate
	}
	return true
}

// target returns the path of the first operation.
func (o *multiOp) target() string {
	if len(o.ops) == 0 {
		return ""
	}
	return o.ops[0].target()
}

// targets returns the paths of all operations. A Rule matches if its pattern matches one of
// these paths.
func (o *multiOp) targets() []string {
	paths := make([]string, len(o.ops))
	for i, op := range o.ops {
		paths[i] = op.target()
	}
	return paths
}

// runLocked answers ok even if the transaction has failed: the body has the error.
func (o *multiOp) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	if !o.fixModes(x.srv.cfg.Version38) {
		return malformedOp{takesZxid: true}.runLocked(x, out)
	}
	start, failed := len(out.Buf), -1
	created, code := x.srv.commitLocked(x.conn, func(tx *datatree.Txn) wire.Code {
		for i, op := range o.ops {
			out.MultiHeader(op.result(), false, wire.OK)
			if code := op.apply(tx, out); code != wire.OK {
				failed = i
				return code
			}
		}
		return wire.OK
	})
	x.req.Created = created
	if code != wire.OK {
		out.Buf = out.Buf[:start]
		o.encodeFailure(out, failed, code)
	}
	out.MultiHeader(wire.OpError, true, wire.ErrEnd)
	return wire.OK
}

// encodeFailure writes one error per operation: none for the operations before the
// failed one, and "not attempted" for the operations after it.
func (o *multiOp) encodeFailure(out *wire.Encoder, failed int, code wire.Code) {
	for i := range o.ops {
		result := wire.OK
		switch {
		case i == failed:
			result = code
		case i > failed:
			result = wire.ErrRuntimeInconsistency
		}
		out.MultiHeader(wire.OpError, false, result)
		out.Int32(int32(result))
	}
}

// multiReadOp is the request multiRead: several getData and getChildren, each with its
// result or error.
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

// decodeUnwatching reads a part of a multiRead and ignores its flag for a watch, as Java
// does.
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
			break // this ends the connection
		}
		start := len(out.Buf)
		out.MultiHeader(r.kind, false, wire.OK)
		if code := r.op.runLocked(x, out); code != wire.OK {
			out.Buf = out.Buf[:start]
			if x.srv.cfg.ClickHouseKeeper {
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
