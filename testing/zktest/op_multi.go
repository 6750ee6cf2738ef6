package zktest

// multiOp is multi: all of its operations or none, under one zxid.
type multiOp struct{ ops []write }

func decodeMulti(d *decoder) operation {
	o := &multiOp{}
	for d.err == nil {
		kind, done := decodeMultiHeader(d)
		if done {
			break
		}
		switch decode, known := writes[kind]; {
		case known:
			w := decode(kind, d)
			if c, isCreate := w.(*createOp); isCreate && !c.fixModeInMulti() {
				d.err = errMalformed
			}
			o.ops = append(o.ops, w)
		case kind == OpCheck:
			o.ops = append(o.ops, decodeCheck(kind, d))
		default:
			d.err = errMalformed
		}
	}
	return o
}

func decodeMultiHeader(d *decoder) (kind Op, done bool) {
	kind, done = Op(d.int32()), d.bool()
	d.int32() // an error code, without meaning in a request
	return kind, done
}

// fixModeInMulti lets the flags decide what kind of node is created, as Java's
// decoder of a multi does, where a create that stands alone goes by the type of the
// request. It reports false for flags that this decoder cannot read.
func (o *createOp) fixModeInMulti() bool {
	switch {
	case o.flags < 0 || o.flags > maxFlags:
		return false
	case o.flags == flagContainer:
		o.op = OpCreateContainer
	case o.withTTL() && o.op != OpCreateTTL:
		return false
	case !o.withTTL() && o.op == OpCreateTTL:
		o.op = OpCreate
	}
	return true
}

// target is the path of the first operation.
func (o *multiOp) target() string {
	if len(o.ops) == 0 {
		return ""
	}
	return o.ops[0].target()
}

// targets are the paths of all operations: a Rule matches if one of them does.
func (o *multiOp) targets() []string {
	paths := make([]string, len(o.ops))
	for i, op := range o.ops {
		paths[i] = op.target()
	}
	return paths
}

// run answers ok even when the transaction failed: the error is in the body.
func (o *multiOp) run(x *exchange, out *encoder) Code {
	start, failed := len(out.b), -1
	created, code := x.srv.commit(x.conn, func(tx *txn) Code {
		for i, op := range o.ops {
			out.multiHeader(op.result(), false, ok)
			if code := op.apply(tx, out); code != ok {
				failed = i
				return code
			}
		}
		return ok
	})
	x.req.Created = created
	if code != ok {
		out.b = out.b[:start]
		o.encodeFailure(out, failed, code)
	}
	out.multiHeader(opError, true, opErrorEnd)
	return ok
}

// opErrorEnd is the error field of the header that ends a multi.
const opErrorEnd Code = -1

// encodeFailure writes one error per operation: none for those before the one
// that failed, and "not attempted" for those behind it.
func (o *multiOp) encodeFailure(out *encoder, failed int, code Code) {
	for i := range o.ops {
		result := ok
		switch {
		case i == failed:
			result = code
		case i > failed:
			result = ErrRuntimeInconsistency
		}
		out.multiHeader(opError, false, result)
		out.int32(int32(result))
	}
}
