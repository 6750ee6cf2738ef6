package zktest

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// bubble runs a test of one server in virtual time.
func bubble(t *testing.T, test func(t *testing.T, srv *Server), opts ...Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, Start(t, opts...)) })
}

// raw is a client that speaks the protocol frame by frame.
type raw struct {
	t        *testing.T
	nc       net.Conn
	xid      int32
	session  int64
	password []byte
	timeout  int32
}

// reply is a frame from the server behind the handshake.
type reply struct {
	xid  int32
	zxid int64
	code wire.Code
	body *wire.Decoder
}

func (r reply) event() datatree.Change {
	return datatree.Change{Event: wire.EventType(r.body.Int32()), Path: r.pathAfterState()}
}

func (r reply) pathAfterState() string {
	r.body.Int32()
	return r.body.String()
}

func dialRaw(t *testing.T, srv *Server) *raw {
	t.Helper()
	nc, err := srv.Dialer()(t.Context(), "tcp", srv.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { nc.Close() })
	return &raw{t: t, nc: nc}
}

// login dials and opens a session.
func login(t *testing.T, srv *Server) *raw {
	t.Helper()
	c := dialRaw(t, srv)
	c.handshake(0, 10_000, 0, nil)
	require.NotZero(t, c.session)
	return c
}

// handshake takes up a session, and reports whether the server answered at all.
func (c *raw) handshake(seen int64, timeout int32, session int64, password []byte, more ...byte) bool {
	e := &wire.Encoder{Buf: make([]byte, wire.LengthSize)}
	e.Int32(0)
	e.Int64(seen)
	e.Int32(timeout)
	e.Int64(session)
	e.Buffer(password)
	e.Buf = append(e.Buf, more...)
	c.write(e.Frame())
	frame, err := wire.ReadFrame(c.nc)
	if err != nil {
		return false
	}

	require.Len(c.t, frame, 36+len(more))
	d := &wire.Decoder{Buf: frame}
	d.Int32()
	c.timeout, c.session, c.password = d.Int32(), d.Int64(), d.Buffer()
	return true
}

func (c *raw) write(p []byte) {
	_, err := c.nc.Write(p)
	require.NoError(c.t, err)
}

// send sends a request with a body made of the values, and returns its xid.
func (c *raw) send(op wire.Op, values ...any) int32 {
	c.xid++
	c.sendXid(c.xid, op, values...)
	return c.xid
}

func (c *raw) sendXid(xid int32, op wire.Op, values ...any) {
	c.write(requestFrame(xid, op, values...))
}

// requestFrame returns a request with a body made of the values.
func requestFrame(xid int32, op wire.Op, values ...any) []byte {
	e := &wire.Encoder{Buf: make([]byte, wire.LengthSize)}
	e.Int32(xid)
	e.Int32(int32(op))
	encodeValues(e, values...)
	return e.Frame()
}

// encodeValues encodes each value by its Go type.
func encodeValues(e *wire.Encoder, values ...any) {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			e.String(v)
		case []byte:
			e.Buffer(v)
		case bool:
			e.Bool(v)
		case int:
			e.Int32(int32(v))
		case int64:
			e.Int64(v)
		case []wire.ACL:
			e.ACLs(v)
		case []string:
			e.Strings(v)
		case wire.Op:
			e.MultiHeader(v, v == wire.OpError, wire.ErrEnd)
		}
	}
}

// receive returns the next frame.
func (c *raw) receive() reply {
	c.t.Helper()
	frame, err := wire.ReadFrame(c.nc)
	require.NoError(c.t, err)
	require.GreaterOrEqual(c.t, len(frame), wire.HeaderSize)
	d := &wire.Decoder{Buf: frame}
	return reply{d.Int32(), d.Int64(), wire.Code(d.Int32()), d}
}

// call sends a request and returns the next frame, which must be its answer.
func (c *raw) call(op wire.Op, values ...any) reply {
	c.t.Helper()
	xid := c.send(op, values...)
	r := c.receive()
	if op != wire.OpPing {
		require.Equal(c.t, xid, r.xid)
	}
	return r
}

// requireClosed waits for the server's end of the connection.
func (c *raw) requireClosed() {
	c.t.Helper()
	_, err := c.nc.Read(make([]byte, 1))
	require.ErrorIs(c.t, err, io.EOF)
}

// requireSilence makes sure that nothing comes.
func (c *raw) requireSilence() {
	c.t.Helper()
	require.NoError(c.t, c.nc.SetReadDeadline(time.Now().Add(time.Second)))
	_, err := c.nc.Read(make([]byte, 1))
	var timeout net.Error
	require.ErrorAs(c.t, err, &timeout)
	require.True(c.t, timeout.Timeout())
	require.NoError(c.t, c.nc.SetReadDeadline(time.Time{}))
}

func (c *raw) create(path string, flags int) reply {
	c.t.Helper()
	return c.call(wire.OpCreate, path, []byte("data"), datatree.OpenACL, flags)
}

func frameLength(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func (c *raw) readAll() string {
	all, err := io.ReadAll(c.nc)
	require.NoError(c.t, err)
	return string(all)
}
