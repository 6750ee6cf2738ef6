package zktest

import (
	"net/netip"
	"strings"
)

// authOp is auth: it adds an identity to the connection. Every digest is taken
// at its word, and the super user's is one of two identities. A scheme the server
// does not know ends the connection.
type authOp struct {
	pathless
	scheme string
	data   []byte
}

func decodeAuth(d *decoder) operation {
	d.int32() // a type, always 0
	return &authOp{scheme: d.string(), data: d.buffer()}
}

func (o *authOp) run(x *exchange, _ *encoder) Code {
	switch {
	case o.scheme == "digest" && o.data != nil:
		if credentials := string(o.data); credentials == x.srv.cfg.superUser && credentials != "" {
			x.conn.addID(superID)
		}
		x.conn.addID(digestID(string(o.data)))
		return ok
	case o.scheme == "ip": // everyone has it from the start
		return ok
	}
	x.last = true
	return ErrAuthFailed
}

// saslOp is sasl. As on a server that is not configured for it, it succeeds without any effect, unless its token is null.
type saslOp struct{ pathless }

func decodeSASL(d *decoder) operation {
	if d.buffer() == nil {
		d.err = errMalformed
	}
	return saslOp{}
}

func (saslOp) run(_ *exchange, out *encoder) Code {
	out.buffer(nil)
	return ok
}

// whoAmIOp lists the identities of the connection.
type whoAmIOp struct{ pathless }

func decodeWhoAmI(*decoder) operation { return whoAmIOp{} }

func (whoAmIOp) run(x *exchange, out *encoder) Code {
	out.int32(int32(len(x.conn.ids)))
	for _, id := range x.conn.ids {
		out.string(id.Scheme)
		out.string(id.user())
	}
	return ok
}

// user is the part of an identity that may be shown.
func (id ID) user() string {
	if id.Scheme != "digest" {
		return id.ID
	}
	user, _, _ := strings.Cut(id.ID, ":")
	return user
}

// ipID is the identity a connection has by its remote address.
func ipID(remote string) ID {
	if ap, err := netip.ParseAddrPort(remote); err == nil {
		return ID{Scheme: "ip", ID: ap.Addr().Unmap().String()}
	}
	return ID{Scheme: "ip", ID: "127.0.0.1"}
}
