package transport

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/internal/jute"
)

// ShutdownConn returns a connection to a stub in this process. On it the
// library gets a session and can close it at once, without a server. The
// library's Close needs that: without any connection it waits for a second,
// unless it is lucky.
func ShutdownConn() net.Conn {
	f := &shutdownConn{}
	f.changed.L = &f.mu
	return f
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

// Write takes one frame. Frames that need no answer are dropped.
func (f *shutdownConn) Write(frame []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, net.ErrClosed
	}
	if !f.connected {
		f.connected = true
		f.answer(func(b []byte) []byte {
			b = jute.AppendInt32(b, 0) // protocol version
			b = jute.AppendInt32(b, int32(time.Hour.Milliseconds()))
			b = jute.AppendInt64(b, 1) // any session but 0
			return jute.AppendBuffer(b, nil)
		})
		return len(frame), nil
	}
	if r, err := parseRequest(frame[lengthSize:]); err == nil && r.op == opCloseSession {
		f.answer(func(b []byte) []byte {
			return jute.AppendInt32(jute.AppendInt64(jute.AppendInt32(b, r.xid), 0), 0)
		})
	}
	return len(frame), nil
}

func (f *shutdownConn) answer(body func([]byte) []byte) {
	b := body(make([]byte, lengthSize))
	binary.BigEndian.PutUint32(b, uint32(len(b)-lengthSize))
	f.answers.Write(b)
	f.changed.Broadcast()
}

func (f *shutdownConn) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.answers.Len() == 0 && !f.closed {
		f.changed.Wait()
	}
	if f.closed {
		return 0, net.ErrClosed
	}
	return f.answers.Read(p)
}

func (f *shutdownConn) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.changed.Broadcast()
	return nil
}

func (f *shutdownConn) LocalAddr() net.Addr              { return shutdownAddr{} }
func (f *shutdownConn) RemoteAddr() net.Addr             { return shutdownAddr{} }
func (f *shutdownConn) SetDeadline(time.Time) error      { return nil }
func (f *shutdownConn) SetReadDeadline(time.Time) error  { return nil }
func (f *shutdownConn) SetWriteDeadline(time.Time) error { return nil }

type shutdownAddr struct{}

func (shutdownAddr) Network() string { return "shutdown" }
func (shutdownAddr) String() string  { return "shutdown" }
