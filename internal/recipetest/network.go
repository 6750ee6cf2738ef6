package recipetest

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

// Network is the network of one client, which tests can break. It works over
// any dialer, so that the same scenario runs in virtual and in real time.
type Network struct {
	dial framework.DialFunc

	mu       sync.Mutex // protects the following fields
	conns    []*conn
	down     bool          // new connections are refused
	isolated chan struct{} // not nil while isolated; closed when healed
	password []byte        // the password of the newest session
	session  int64
}

func (w *Network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
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
	c := &conn{Conn: nc, Network: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(w.conns, c)
	return c, nil
}

// Cut breaks the present connections. New ones work.
func (w *Network) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

// Refuse makes new connections fail, or work again.
func (w *Network) Refuse(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
}

// Isolate makes everything vanish, in both directions and without an error,
// until the returned function is called.
func (w *Network) Isolate() (heal func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	isolated := make(chan struct{})
	w.isolated = isolated
	for _, c := range w.conns {
		c.mute = true
	}
	return sync.OnceFunc(func() {
		w.Cut() // the old connections have lost frames
		w.mu.Lock()
		defer w.mu.Unlock()
		w.isolated = nil
		close(isolated)
	})
}

// Expire ends the client's present session as an operator would: by taking over the
// session and closing it.
func (w *Network) Expire(t testing.TB) {
	t.Helper()
	w.Refuse(true) // keeps the client from taking its session back at once
	defer w.Refuse(false)
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

type conn struct {
	net.Conn
	Network *Network
	mute    bool   // protected by Network.mu
	hello   []byte // the server's first bytes; owned by the reader
}

func (c *conn) muted() bool {
	c.Network.mu.Lock()
	defer c.Network.mu.Unlock()
	return c.mute
}

func (c *conn) Write(p []byte) (int, error) {
	if c.muted() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// helloSize is a ConnectResponse: length, version, timeout, session id,
// password of 16 bytes.
const helloSize = 4 + 4 + 4 + 8 + 4 + 16

func (c *conn) Read(p []byte) (int, error) {
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

func (c *conn) greet(p []byte) {
	if c.hello = append(c.hello, p...); len(c.hello) < helloSize {
		return
	}
	c.Network.mu.Lock()
	defer c.Network.mu.Unlock()
	c.Network.session = int64(binary.BigEndian.Uint64(c.hello[12:]))
	c.Network.password = append([]byte(nil), c.hello[24:helloSize]...)
}
