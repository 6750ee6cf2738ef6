package transport

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/framework/internal/proto"
)

// ShutdownConn returns a connection to a stub in this process, on which the library
// gets a session and can close it at once, without a server. Without any connection,
// the library's Close usually waits for a second.
func ShutdownConn() net.Conn {
	c := &shutdownConn{}
	c.changed.L = &c.mu
	return c
}

// shutdownConn answers the frames that the library writes: the ConnectRequest
// and closeSession.
type shutdownConn struct {
	mu        sync.Mutex // protects the following fields
	changed   sync.Cond
	connected bool
	answers   bytes.Buffer
	closed    bool
}

// Write takes one frame. It drops frames that need no answer.
func (c *shutdownConn) Write(frame []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	if !c.connected {
		c.connected = true
		c.answer(func(b []byte) []byte {
			b = jute.AppendInt32(b, 0) // protocol version
			b = jute.AppendInt32(b, int32(time.Hour.Milliseconds()))
			b = jute.AppendInt64(b, 1) // any session but 0
			return jute.AppendBuffer(b, nil)
		})
		return len(frame), nil
	}
	if h, ok := proto.ReadRequestHeader(frame[proto.LengthSize:]); ok && h.Op == proto.OpCloseSession {
		c.answer(func(b []byte) []byte {
			return jute.AppendInt32(jute.AppendInt64(jute.AppendInt32(b, h.Xid), 0), 0)
		})
	}
	return len(frame), nil
}

func (c *shutdownConn) answer(body func([]byte) []byte) {
	b := body(make([]byte, proto.LengthSize))
	binary.BigEndian.PutUint32(b, uint32(len(b)-proto.LengthSize))
	c.answers.Write(b)
	c.changed.Broadcast()
}

func (c *shutdownConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.answers.Len() == 0 && !c.closed {
		c.changed.Wait()
	}
	if c.closed {
		return 0, net.ErrClosed
	}
	return c.answers.Read(p)
}

func (c *shutdownConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.changed.Broadcast()
	return nil
}

func (c *shutdownConn) LocalAddr() net.Addr              { return shutdownAddr{} }
func (c *shutdownConn) RemoteAddr() net.Addr             { return shutdownAddr{} }
func (c *shutdownConn) SetDeadline(time.Time) error      { return nil }
func (c *shutdownConn) SetReadDeadline(time.Time) error  { return nil }
func (c *shutdownConn) SetWriteDeadline(time.Time) error { return nil }

type shutdownAddr struct{}

func (shutdownAddr) Network() string { return "shutdown" }
func (shutdownAddr) String() string  { return "shutdown" }
