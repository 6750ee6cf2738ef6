package zktest

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// BenchmarkLarge does everything to a tree and to a tenth of it, in turns. The
// ratios that count are those of the times per node: 1 is linear, 10 would be
// quadratic.
func BenchmarkLarge(b *testing.B) {
	b.Run("znodes=100000", func(b *testing.B) { compareSizes(b, 100_000, growTree) })
	b.Run("watches=10000", func(b *testing.B) { compareSizes(b, 10_000, fireWatches) })
	b.Run("recursive=10000", func(b *testing.B) { compareSizes(b, 10_000, fireRecursive) })
	b.Run("ephemerals=10000", func(b *testing.B) { compareSizes(b, 10_000, closeSession) })
}

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

func compareSizes(b *testing.B, n int, run func(b *testing.B, w *stopwatch, n int)) {
	large, small := &stopwatch{times: map[string]time.Duration{}}, &stopwatch{times: map[string]time.Duration{}}
	for b.Loop() {
		large.start = time.Now()
		run(b, large, n)
		for range 10 { // the same number of nodes altogether
			small.start = time.Now()
			run(b, small, n/10)
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, step := range large.steps {
		b.ReportMetric(float64(large.times[step])/float64(b.N*n), step+"-ns/each")
		b.ReportMetric(float64(large.times[step])/float64(small.times[step]), step+"-ratio")
	}
}

// growTree reports what a node takes besides its data. The path has 25 bytes.
func growTree(b *testing.B, w *stopwatch, n int) {
	srv := Start(b)
	c := dialBench(b, srv)
	require.NoError(b, srv.Create("/the-parent-of-many", nil))
	before := heap()
	w.start = time.Now()
	for i := range n {
		require.Zero(b, c.code(b, wire.OpCreate, fmt.Sprintf("/the-parent-of-many/%05d", i), []byte{}, datatree.OpenACL, 0))
	}
	w.lap("create")
	srv.ClearRequests() // the log is not the tree
	if n == 100_000 {
		b.ReportMetric(float64(heap()-before)/float64(n), "B/znode")
	}
	w.start = time.Now()
	require.Len(b, c.request(b, wire.OpGetChildren, "/the-parent-of-many", false).Strings(), n)
	w.lap("list")
	require.EqualValues(b, n, c.request(b, wire.OpGetAllChildrenNumber, "/the-parent-of-many").Int32())
	w.lap("count")
	for i := range n {
		require.Zero(b, c.code(b, wire.OpDelete, fmt.Sprintf("/the-parent-of-many/%05d", i), -1))
	}
	w.lap("delete")
	require.NoError(b, srv.Close())
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

func fireWatches(b *testing.B, w *stopwatch, n int) {
	srv := Start(b)
	c := dialBench(b, srv)
	for i := range n {
		require.NoError(b, srv.Create("/p/"+strconv.Itoa(i), nil))
	}
	w.start = time.Now()
	for i := range n {
		c.code(b, wire.OpGetData, "/p/"+strconv.Itoa(i), true)
		c.code(b, wire.OpGetChildren, "/p/"+strconv.Itoa(i), true)
	}
	w.lap("watch")
	require.Len(b, srv.Watches(), 2*n)
	w.start = time.Now()
	for i := range n {
		require.NoError(b, srv.Set("/p/"+strconv.Itoa(i), nil))
		c.event(b)
	}
	w.lap("fire")
	srv.CutAll() // and with it the watches of children
	require.Empty(b, srv.Watches())
	w.lap("drop")
	require.NoError(b, srv.Close())
}

func (c benchClient) event(b *testing.B) {
	_, err := wire.ReadFrame(c.r)
	require.NoError(b, err)
}

// fireRecursive has many watches above, below and beside the node that changes.
func fireRecursive(b *testing.B, w *stopwatch, n int) {
	srv := Start(b)
	c := dialBench(b, srv)
	for i := range n {
		c.code(b, wire.OpAddWatch, "/p/"+strconv.Itoa(i), 1)
	}
	w.lap("watch")
	for i := range n {
		require.NoError(b, srv.Create("/p/"+strconv.Itoa(i)+"/x", nil))
		c.event(b)
		c.event(b)
	}
	w.lap("fire")
	require.NoError(b, srv.Close())
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
