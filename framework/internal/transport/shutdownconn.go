package transport

import (
	"bufio"
	"net"
	"time"

	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/framework/internal/proto"
)

// ServeShutdown plays the server when the library shuts down: the library gets a session
// on the other end of nc, which no real server knows, and can close the session at once.
// Without any connection, the library's Close usually waits for a second. ServeShutdown
// returns when the library closes the connection.
func ServeShutdown(nc net.Conn) {
	defer nc.Close()
	c := endingConn{conn: nc, in: bufio.NewReader(nc), ioTimeout: 10 * time.Second, longest: maxHandshakeFrame}
	if _, err := c.read(); err != nil { // the ConnectRequest
		return
	}
	c.write(appendFrame(nil, func(b []byte) []byte {
		b = jute.AppendInt32(b, 0) // protocol version
		b = jute.AppendInt32(b, int32(time.Hour.Milliseconds()))
		b = jute.AppendInt64(b, 1) // any session but 0
		return jute.AppendBuffer(b, nil)
	}))
	for {
		frame, err := c.read()
		if err != nil {
			return
		}
		if h, ok := proto.ReadRequestHeader(frame); ok && h.Op == proto.OpCloseSession {
			c.write(appendFrame(nil, func(b []byte) []byte {
				return jute.AppendInt32(jute.AppendInt64(jute.AppendInt32(b, h.Xid), 0), 0)
			}))
		}
	}
}
