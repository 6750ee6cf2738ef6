package zktest

import (
	"net/netip"
	"strings"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// authOp is auth: it adds an identity to the connection. Every digest is taken
// at its word, and the super user's is one of two identities. A scheme the
// server does not know ends the connection.
type authOp struct {
	pathless
	scheme string
	data   []byte
}

func decodeAuth(d *wire.Decoder) operation {
	d.Int32() // a type, always 0
	return &authOp{scheme: d.String(), data: d.Buffer()}
}

func (o *authOp) runLocked(x *exchange, _ *wire.Encoder) wire.Code {
	switch {
	case o.scheme == "digest" && o.data != nil:
		if credentials := string(o.data); credentials == x.srv.cfg.superUser && credentials != "" {
			x.conn.addIDLocked(datatree.SuperUser)
		}
		x.conn.addIDLocked(datatree.DigestID(string(o.data)))
		return wire.OK
	case o.scheme == "ip": // everyone has it from the start
		return wire.OK
	}
	x.last = true
	return wire.ErrAuthFailed
}

// saslOp is sasl. As on a server that is not configured for it, it succeeds
// without any effect, unless its token is null.
type saslOp struct{ pathless }

func decodeSASL(d *wire.Decoder) operation {
	if d.Buffer() == nil {
		d.Err = wire.ErrMalformed
	}
	return saslOp{}
}

func (saslOp) runLocked(_ *exchange, out *wire.Encoder) wire.Code {
	out.Buffer(nil)
	return wire.OK
}

// whoAmIOp lists the identities of the connection.
type whoAmIOp struct{ pathless }

func decodeWhoAmI(*wire.Decoder) operation { return whoAmIOp{} }

func (whoAmIOp) runLocked(x *exchange, out *wire.Encoder) wire.Code {
	out.Int32(int32(len(x.conn.ids)))
	for _, id := range x.conn.ids {
		out.String(id.Scheme)
		out.String(userOf(id))
	}
	return wire.OK
}

// userOf returns the part of an identity that may be shown.
func userOf(id wire.ID) string {
	if id.Scheme != "digest" {
		return id.ID
	}
	user, _, _ := strings.Cut(id.ID, ":")
	return user
}

// ipID is the identity a connection has by its remote address.
func ipID(remote string) wire.ID {
	if ap, err := netip.ParseAddrPort(remote); err == nil {
		return wire.ID{Scheme: "ip", ID: ap.Addr().Unmap().String()}
	}
	return wire.ID{Scheme: "ip", ID: "127.0.0.1"}
}
