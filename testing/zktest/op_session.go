package zktest

// pingOp is ping. Its use is that it touches the session, as every request does.
type pingOp struct{ pathless }

func decodePing(*decoder) operation { return pingOp{} }

func (pingOp) run(*exchange, *encoder) Code { return ok }

// syncOp is sync. Its answer waits until the server has caught up with the leader:
// see exchange.settleAt.
type syncOp struct{ pathOp }

func decodeSync(d *decoder) operation { return syncOp{pathOp{d.nullable()}} }

func (o syncOp) run(_ *exchange, out *encoder) Code {
	out.string(o.path)
	return ok
}

// closeSessionOp is the client's own end of its session.
type closeSessionOp struct{ pathless }

func decodeCloseSession(*decoder) operation { return closeSessionOp{} }

func (closeSessionOp) run(x *exchange, _ *encoder) Code {
	x.srv.endSession(x.conn.sess, x.conn)
	x.last = true
	return ok
}
