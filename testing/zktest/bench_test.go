package zktest

import (
	"bufio"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func BenchmarkStartStop(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		srv, err := Run()
		require.NoError(b, err)
		require.NoError(b, srv.Close())
	}
}

func BenchmarkStartStopEnsemble(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ens, err := RunEnsemble(3)
		require.NoError(b, err)
		require.NoError(b, ens.Close())
	}
}

// BenchmarkStartStopSession adds a connection and a session.
func BenchmarkStartStopSession(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		srv, err := Run()
		require.NoError(b, err)
		dialBench(b, srv)
		require.NoError(b, srv.Close())
	}
}

// BenchmarkCreateDelete is two writes, one after the other, over the in-memory
// network.
func BenchmarkCreateDelete(b *testing.B) {
	srv := Start(b)
	c := dialBench(b, srv)
	b.ReportAllocs()
	for b.Loop() {
		c.request(b, wire.OpCreate, "/a", []byte("data"), datatree.OpenACL, 0)
		c.request(b, wire.OpDelete, "/a", -1)
	}
}

func BenchmarkGetData(b *testing.B) {
	srv := Start(b)
	require.NoError(b, srv.Create("/a", []byte("data")))
	c := dialBench(b, srv)
	b.ReportAllocs()
	for b.Loop() {
		c.request(b, wire.OpGetData, "/a", false)
	}
}

// benchClient is a client without the checks that would dominate the figures.
type benchClient struct {
	net.Conn
	r *bufio.Reader
}

func dialBench(b *testing.B, srv *Server) benchClient {
	nc, err := srv.Dialer()(b.Context(), "tcp", srv.Addr())
	require.NoError(b, err)
	c := newBenchClient(nc)
	e := &wire.Encoder{Buf: make([]byte, wire.LengthSize)}
	encodeValues(e, 0, int64(0), 10_000, int64(0), make([]byte, passwordSize))
	c.roundTrip(b, e)
	return c
}

func newBenchClient(nc net.Conn) benchClient { return benchClient{nc, bufio.NewReader(nc)} }

// request returns the body of the answer.
func (c benchClient) request(b *testing.B, op wire.Op, values ...any) *wire.Decoder {
	e := &wire.Encoder{Buf: make([]byte, wire.LengthSize, 128)}
	e.Int32(1)
	e.Int32(int32(op))
	encodeValues(e, values...)
	answer := c.roundTrip(b, e)
	return &wire.Decoder{Buf: answer[wire.HeaderSize:]}
}

func (c benchClient) roundTrip(b *testing.B, e *wire.Encoder) []byte {
	if _, err := c.Write(e.Frame()); err != nil {
		b.Fatal(err)
	}
	frame, err := wire.ReadFrame(c.r)
	if err != nil {
		b.Fatal(err)
	}
	return frame
}
