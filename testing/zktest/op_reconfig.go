package zktest

// reconfigOp is reconfig. As on a server with its default configuration, it is
// switched off.
type reconfigOp struct{ pathless }

// decodeReconfig reads the joining, leaving and new members, and the version of the configuration to replace.
func decodeReconfig(d *decoder) operation {
	for range 3 {
		d.string()
	}
	d.int64()
	return reconfigOp{}
}

func (reconfigOp) run(x *exchange, _ *encoder) Code {
	_, code := x.srv.commit(x.conn, func(*txn) Code { return ErrReconfigDisabled })
	return code
}
