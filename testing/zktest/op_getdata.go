package zktest

// getDataOp is getData. It sets its watch only if there is a node.
type getDataOp struct{ watchingOp }

func decodeGetData(d *decoder) operation { return getDataOp{decodeWatching(d)} }

func (o getDataOp) run(x *exchange, out *encoder) Code {
	n, code := x.find(o.path, permRead)
	if code != ok {
		return code
	}
	if o.watch {
		x.leaveWatch(WatchData, o.path)
	}
	out.buffer(n.data)
	out.stat(n.stat())
	return ok
}
