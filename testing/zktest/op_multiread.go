package zktest

// multiReadOp is multiRead: several getData and getChildren in one request, each
// with a result or an error of its own.
type multiReadOp struct{ reads []multiReadItem }

type multiReadItem struct {
	kind Op
	op   operation
}

func decodeMultiRead(d *decoder) operation {
	o := &multiReadOp{}
	for d.err == nil {
		kind, done := decodeMultiHeader(d)
		if done {
			break
		}
		switch kind {
		case OpGetData:
			o.reads = append(o.reads, multiReadItem{kind, getDataOp{decodeUnwatching(d)}})
		case OpGetChildren:
			o.reads = append(o.reads, multiReadItem{kind, getChildrenOp{decodeUnwatching(d), false}})
		default:
			d.err = errMalformed
		}
	}
	return o
}

// decodeUnwatching reads a part and overlooks its wish to leave a watch, as Java does.
func decodeUnwatching(d *decoder) watchingOp {
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

func (o *multiReadOp) run(x *exchange, out *encoder) Code {
	for _, r := range o.reads {
		start := len(out.b)
		out.multiHeader(r.kind, false, ok)
		if code := r.op.run(x, out); code != ok {
			out.b = out.b[:start]
			out.multiHeader(opError, false, code)
			out.int32(int32(code))
		}
	}
	out.multiHeader(opError, true, opErrorEnd)
	return ok
}
