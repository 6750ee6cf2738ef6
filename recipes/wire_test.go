package recipes_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// wire is one client's network, with a knife in it. It works over any dialer, so that the same scenario runs in
// virtual and in real time.
type wire struct {
	dial framework.DialFunc

	mu       sync.Mutex // protects the following fields
	conns    []*wireConn
	down     bool          // refuse new connections
	isolated chan struct{} // not nil while isolated; closed when healed
	password []byte        // of the newest session
	session  int64
}

func (w *wire) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	down, isolated := w.down, w.isolated
	w.mu.Unlock()
	if down {
		return nil, &net.OpError{Op: "dial", Net: network, Err: io.ErrClosedPipe}
	}
	if isolated != nil {
		select {
		case <-isolated:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	nc, err := w.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &wireConn{Conn: nc, wire: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(w.conns, c)
	return c, nil
}

// cut breaks the present connections. New ones work.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

// refuse makes new connections fail, or work again.
func (w *wire) refuse(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
}

// isolate makes everything vanish, in both directions and without an error, until the returned function is called.
func (w *wire) isolate() (heal func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	isolated := make(chan struct{})
	w.isolated = isolated
	for _, c := range w.conns {
		c.mute = true
	}
	return sync.OnceFunc(func() {
		w.cut() // frames are missing from the old connections
		w.mu.Lock()
		defer w.mu.Unlock()
		w.isolated = nil
		close(isolated)
	})
}

// expire ends the client's present session as an operator would: it takes the session over and closes it.
func (w *wire) expire(t testing.TB) {
	t.Helper()
	w.refuse(true) // or the client takes its session back at once
	defer w.refuse(false)
	w.mu.Lock()
	session, password := w.session, w.password
	address := w.conns[len(w.conns)-1].RemoteAddr()
	w.mu.Unlock()

	nc, err := w.dial(t.Context(), address.Network(), address.String())
	require.NoError(t, err)
	defer nc.Close()

	connect := binary.BigEndian.AppendUint32(nil, 0)      // protocol version
	connect = binary.BigEndian.AppendUint64(connect, 0)   // last zxid seen
	connect = binary.BigEndian.AppendUint32(connect, 9e3) // timeout
	connect = binary.BigEndian.AppendUint64(connect, uint64(session))
	connect = append(binary.BigEndian.AppendUint32(connect, uint32(len(password))), password...)
	exchange(t, nc, connect)
	closeRequest, opClose := binary.BigEndian.AppendUint32(nil, 1), int32(-11)
	exchange(t, nc, binary.BigEndian.AppendUint32(closeRequest, uint32(opClose)))
}

func exchange(t testing.TB, nc net.Conn, body []byte) {
	t.Helper()
	nc.SetDeadline(time.Now().Add(10 * time.Second))
	_, err := nc.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	require.NoError(t, err)
	var length [4]byte
	_, err = io.ReadFull(nc, length[:])
	require.NoError(t, err)
	_, err = io.CopyN(io.Discard, nc, int64(binary.BigEndian.Uint32(length[:])))
	require.NoError(t, err)
}

type wireConn struct {
	net.Conn
	wire  *wire
	mute  bool   // protected by wire.mu
	hello []byte // the server's first bytes; owned by the reader
}

func (c *wireConn) muted() bool {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	return c.mute
}

func (c *wireConn) Write(p []byte) (int, error) {
	if c.muted() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// helloSize is a ConnectResponse: length, version, timeout, session id, password of 16 bytes.
const helloSize = 4 + 4 + 4 + 8 + 4 + 16

func (c *wireConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err == nil && c.muted() {
			continue
		}
		if len(c.hello) < helloSize {
			c.greet(p[:n])
		}
		return n, err
	}
}

func (c *wireConn) greet(p []byte) {
	if c.hello = append(c.hello, p...); len(c.hello) < helloSize {
		return
	}
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	c.wire.session = int64(binary.BigEndian.Uint64(c.hello[12:]))
	c.wire.password = append([]byte(nil), c.hello[24:helloSize]...)
}
