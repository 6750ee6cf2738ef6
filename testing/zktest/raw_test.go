package zktest

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// bubble runs a test of one server in virtual time.
func bubble(t *testing.T, test func(t *testing.T, srv *Server), opts ...Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, New(t, opts...)) })
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
	code Code
	body *decoder
}

func (r reply) event() change { return change{eventType(r.body.int32()), r.pathAfterState()} }

func (r reply) pathAfterState() string {
	r.body.int32()
	return r.body.string()
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
	e := &encoder{b: make([]byte, lengthSize)}
	e.int32(0)
	e.int64(seen)
	e.int32(timeout)
	e.int64(session)
	e.buffer(password)
	e.b = append(e.b, more...)
	c.write(e.frame())
	frame, err := readFrame(c.nc)
	if err != nil {
		return false
	}

	require.Len(c.t, frame, 36+len(more))
	d := &decoder{b: frame}
	d.int32()
	c.timeout, c.session, c.password = d.int32(), d.int64(), d.buffer()
	return true
}

func (c *raw) write(p []byte) {
	_, err := c.nc.Write(p)
	require.NoError(c.t, err)
}

// send sends a request with a body made of the values, and returns its xid.
func (c *raw) send(op Op, values ...any) int32 {
	c.xid++
	c.sendXid(c.xid, op, values...)
	return c.xid
}

func (c *raw) sendXid(xid int32, op Op, values ...any) {
	e := &encoder{b: make([]byte, lengthSize)}
	e.int32(xid)
	e.int32(int32(op))
	e.values(values...)
	c.write(e.frame())
}

// values encodes each value by its Go type.
func (e *encoder) values(values ...any) {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			e.string(v)
		case []byte:
			e.buffer(v)
		case bool:
			e.bool(v)
		case int:
			e.int32(int32(v))
		case int64:
			e.int64(v)
		case []ACL:
			e.acls(v)
		case []string:
			e.strings(v)
		case Op:
			e.multiHeader(v, v == opError, opErrorEnd)
		}
	}
}

// receive returns the next frame.
func (c *raw) receive() reply {
	c.t.Helper()
	frame, err := readFrame(c.nc)
	require.NoError(c.t, err)
	require.GreaterOrEqual(c.t, len(frame), headerSize)
	d := &decoder{b: frame}
	return reply{d.int32(), d.int64(), Code(d.int32()), d}
}

// call sends a request and returns the next frame, which must be its answer.
func (c *raw) call(op Op, values ...any) reply {
	c.t.Helper()
	xid := c.send(op, values...)
	r := c.receive()
	if op != OpPing {
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
	return c.call(OpCreate, path, []byte("data"), openACL, flags)
}

func readStat(d *decoder) Stat {
	return Stat{
		Czxid: d.int64(), Mzxid: d.int64(), Ctime: d.int64(), Mtime: d.int64(),
		Version: d.int32(), Cversion: d.int32(), Aversion: d.int32(), EphemeralOwner: d.int64(),
		DataLength: d.int32(), NumChildren: d.int32(), Pzxid: d.int64(),
	}
}

func frameLength(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func (c *raw) readAll() string {
	all, err := io.ReadAll(c.nc)
	require.NoError(c.t, err)
	return string(all)
}
