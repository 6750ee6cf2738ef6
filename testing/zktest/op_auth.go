package zktest

import (
	"net/netip"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// authOp is auth: it adds an identity to the connection. Every digest is taken
// at its word. A scheme the server does not know ends the connection.
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
		x.conn.addIDLocked(datatree.DigestID(string(o.data)))
		return wire.OK
	case o.scheme == "ip": // everyone has it from the start
		return wire.OK
	}
	x.last = true
	return wire.ErrAuthFailed
}

// ipID is the identity a connection has by its remote address.
func ipID(remote string) wire.ID {
	if ap, err := netip.ParseAddrPort(remote); err == nil {
		return wire.ID{Scheme: "ip", ID: ap.Addr().Unmap().String()}
	}
	return wire.ID{Scheme: "ip", ID: "127.0.0.1"}
}
