package zktest

import (
	"net/netip"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// pingOp is the request ping. Like every request, it counts as contact with the client.
type pingOp struct{ pathless }

func decodePing(*wire.Decoder) operation { return pingOp{} }

func (pingOp) runLocked(*exchange, *wire.Encoder) wire.Code { return wire.OK }

// syncOp is the request sync. The answer waits until the server has caught up with the leader;
// see exchange.awaitZxid.
type syncOp struct{ pathOp }

func decodeSync(d *wire.Decoder) operation { return syncOp{pathOp{d.Nullable()}} }

func (o syncOp) runLocked(_ *exchange, out *wire.Encoder) wire.Code {
	out.String(o.path)
	return wire.OK
}

// closeSessionOp is the request closeSession, by which a client ends its session.
type closeSessionOp struct{ pathless }

func decodeCloseSession(*wire.Decoder) operation { return closeSessionOp{} }

func (closeSessionOp) runLocked(x *exchange, _ *wire.Encoder) wire.Code {
	x.conn.sess.endLocked(x.conn)
	x.last = true
	return wire.OK
}

// authOp is the request auth, which adds an identity to the connection. The server accepts
// every digest. An unknown scheme ends the connection.
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
	case o.scheme == "ip": // every connection has this identity from the start
		return wire.OK
	}
	x.last = true
	return wire.ErrAuthFailed
}

// ipID returns the identity of a connection's remote address.
func ipID(remote string) wire.ID {
	if ap, err := netip.ParseAddrPort(remote); err == nil {
		return wire.ID{Scheme: "ip", ID: ap.Addr().Unmap().String()}
	}
	return wire.ID{Scheme: "ip", ID: "127.0.0.1"}
}
