package zktest

// reconfigOp is reconfig. As on a server with its default configuration, it is
// switched off.
type reconfigOp struct{ pathless }

func decodeReconfig(*decoder) operation { return reconfigOp{} }

func (reconfigOp) run(x *exchange, _ *encoder) Code {
	_, code := x.srv.commit(x.conn, func(*txn) Code { return ErrReconfigDisabled })
	return code
}
