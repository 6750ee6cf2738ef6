package zktest

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// stopwatch measures the steps of one run.
type stopwatch struct {
	start time.Time
	steps []string
	times map[string]time.Duration
}

func (w *stopwatch) lap(step string) {
	if _, known := w.times[step]; !known {
		w.steps = append(w.steps, step)
	}
	w.times[step] += time.Since(w.start)
	w.start = time.Now()
}

// code sends a request and returns only how it went.
func (c benchClient) code(b *testing.B, op wire.Op, values ...any) wire.Code {
	e := &wire.Encoder{Buf: make([]byte, wire.LengthSize, 128)}
	e.Int32(1)
	e.Int32(int32(op))
	encodeValues(e, values...)
	d := &wire.Decoder{Buf: c.roundTrip(b, e)}
	d.Int32()
	d.Int64()
	return wire.Code(d.Int32())
}

func (c benchClient) event(b *testing.B) {
	_, err := wire.ReadFrame(c.r)
	require.NoError(b, err)
}

func closeSession(b *testing.B, w *stopwatch, n int) {
	srv := Start(b)
	c, other := dialBench(b, srv), dialBench(b, srv)
	require.NoError(b, srv.Create("/p", nil))
	for i := range n {
		c.code(b, wire.OpCreate, "/p/"+strconv.Itoa(i), []byte{}, datatree.OpenACL, int(wire.FlagEphemeral))
		other.code(b, wire.OpExists, "/p/"+strconv.Itoa(i), true)
	}
	w.start = time.Now()
	c.code(b, wire.OpCloseSession)
	for range n {
		other.event(b)
	}
	w.lap("close")
	require.NoError(b, srv.Close())
}
