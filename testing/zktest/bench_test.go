package zktest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func BenchmarkStartStop(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		srv, err := NewServer()
		require.NoError(b, err)
		require.NoError(b, srv.Close())
	}
}

func BenchmarkStartStopEnsemble(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ens, err := StartEnsemble(3)
		require.NoError(b, err)
		require.NoError(b, ens.Close())
	}
}

// BenchmarkStartStopSession adds a connection and a session.
func BenchmarkStartStopSession(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		srv, err := NewServer()
		require.NoError(b, err)
		dialBench(b, srv)
		require.NoError(b, srv.Close())
	}
}

// BenchmarkCreateDelete is two writes, one after the other, over the in-memory
// network.
func BenchmarkCreateDelete(b *testing.B) {
	srv := New(b)
	c := dialBench(b, srv)
	b.ReportAllocs()
	for b.Loop() {
		c.request(b, OpCreate, "/a", []byte("data"), openACL, 0)
		c.request(b, OpDelete, "/a", -1)
	}
}

func BenchmarkGetData(b *testing.B) {
	srv := New(b)
	require.NoError(b, srv.Create("/a", []byte("data")))
	c := dialBench(b, srv)
	b.ReportAllocs()
	for b.Loop() {
		c.request(b, OpGetData, "/a", false)
	}
}

// benchClient is a client without the checks that would dominate the figures.
type benchClient struct{ *pipeConn }

func dialBench(b *testing.B, srv *Server) benchClient {
	nc, err := srv.DialTimeout("tcp", srv.Addr(), 0)
	require.NoError(b, err)
	c := benchClient{nc.(*pipeConn)}
	e := &encoder{b: make([]byte, lengthSize)}
	e.values(0, int64(0), 10_000, int64(0), make([]byte, passwordSize))
	c.roundTrip(b, e)
	return c
}

func (c benchClient) request(b *testing.B, op Op, values ...any) {
	e := &encoder{b: make([]byte, lengthSize, 128)}
	e.int32(1)
	e.int32(int32(op))
	e.values(values...)
	c.roundTrip(b, e)
}

func (c benchClient) roundTrip(b *testing.B, e *encoder) {
	if _, err := c.Write(e.frame()); err != nil {
		b.Fatal(err)
	}
	if _, err := readFrame(c); err != nil {
		b.Fatal(err)
	}
}
