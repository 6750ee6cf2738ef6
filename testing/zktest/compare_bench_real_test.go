//go:build real

package zktest

import (
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// BenchmarkLockCycle lets one client go through a lock: create a sequential
// ephemeral node, list, delete. The same cycle takes turns on a real server
// over TCP, on this one over TCP, and on this one in memory, so that all see
// the same machine at the same time; and so do three exchanges of bytes over
// TCP with nobody behind, which is the least that three requests can take. The
// ratios that count are those of the medians.
func BenchmarkLockCycle(b *testing.B) {
	real := zkserver.Start(b)
	fake := Start(b, WithTCP(":0"))
	worlds := []struct {
		name  string
		cycle func()
		times []time.Duration
	}{
		{name: "zookeeper", cycle: lockCycle(b, dialAddr(b, real.Addr()))},
		{name: "tcp", cycle: lockCycle(b, dialAddr(b, fake.Addr()))},
		{name: "memory", cycle: lockCycle(b, dialBench(b, fake))},
		{name: "echo", cycle: echoCycle(b)},
	}
	for range 3000 { // Java compiles on the way
		worlds[0].cycle()
	}
	for b.Loop() {
		for i := range worlds {
			start := time.Now()
			worlds[i].cycle()
			worlds[i].times = append(worlds[i].times, time.Since(start))
		}
	}
	b.ReportMetric(0, "ns/op") // of all together, which means nothing
	medians := make(map[string]float64)
	for _, w := range worlds {
		slices.Sort(w.times)
		medians[w.name] = float64(w.times[len(w.times)/2])
		b.ReportMetric(medians[w.name], w.name+"-ns")
	}
	b.ReportMetric(medians["zookeeper"]/medians["tcp"], "zookeeper/tcp")
	b.ReportMetric(medians["zookeeper"]/medians["memory"], "zookeeper/memory")
	b.ReportMetric(medians["tcp"]/medians["echo"], "tcp/echo")
}

// echoCycle returns a function that sends a hundred bytes to and fro, three
// times.
func echoCycle(b *testing.B) func() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	b.Cleanup(func() { l.Close() })
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		buf := make([]byte, 100)
		for {
			if _, err := io.ReadFull(nc, buf); err != nil {
				return // the benchmark has ended
			}
			_, _ = nc.Write(buf) // the next read fails if this does
		}
	}()
	nc, err := net.Dial("tcp", l.Addr().String())
	require.NoError(b, err)
	b.Cleanup(func() { nc.Close() })
	buf := make([]byte, 100)
	return func() {
		for range 3 {
			if _, err := nc.Write(buf); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(nc, buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func dialAddr(b *testing.B, addr string) benchClient {
	nc, err := net.Dial("tcp", addr)
	require.NoError(b, err)
	b.Cleanup(func() { nc.Close() })
	e := &wire.Encoder{Buf: make([]byte, wire.LengthSize)}
	encodeValues(e, 0, int64(0), 10_000, int64(0), make([]byte, passwordSize))
	c := newBenchClient(nc)
	c.roundTrip(b, e)
	return c
}
