package cache_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"slices"

	"github.com/gocurator/curator/testing/zktest"
)

// keeper returns a dialer of a server whose recursive watch on a path has events
// of that path alone, as those of ClickHouse Keeper have.
func keeper(srv *zktest.Server, path string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := srv.Dialer()(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &keeperConn{Conn: conn, srv: srv, path: path}, nil
	}
}

type keeperConn struct {
	net.Conn
	srv  *zktest.Server
	path string
	rest bytes.Buffer
}

func (c *keeperConn) Read(p []byte) (int, error) {
	if c.rest.Len() == 0 {
		var length [4]byte
		if _, err := io.ReadFull(c.Conn, length[:]); err != nil {
			return 0, err
		}
		frame := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(c.Conn, frame); err != nil {
			return 0, err
		}
		const header, typeAndState = 16, 8
		recursive := func(w zktest.Watch) bool { return w.Recursive }
		if int32(binary.BigEndian.Uint32(frame)) == -1 && slices.ContainsFunc(c.srv.WatchesOn(c.path), recursive) {
			frame = binary.BigEndian.AppendUint32(frame[:header+typeAndState:header+typeAndState], uint32(len(c.path)))
			frame = append(frame, c.path...)
		}
		c.rest.Write(binary.BigEndian.AppendUint32(nil, uint32(len(frame))))
		c.rest.Write(frame)
	}
	return c.rest.Read(p)
}
