package zktest

// existsOp is exists. Its watch is set whether the node is there or not: that is
// how a client waits for a node to appear.
type existsOp struct{ watchingOp }

func decodeExists(d *decoder) operation { return existsOp{decodeWatching(d)} }

func (o existsOp) run(x *exchange, out *encoder) Code {
	if hasNUL(o.path) {
		return ErrBadArguments
	}
	n, code := x.find(o.path, permRead)
	if o.watch && code != ErrNoAuth {
		x.leaveWatch(WatchData, o.path)
	}
	if code != ok {
		return code
	}
	out.stat(n.stat())
	return ok
}
