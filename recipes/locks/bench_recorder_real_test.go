//go:build real

package locks_test

import (
	"net"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/testing/zktest"
)

// BenchmarkFlightRecorder compares an uncontended acquire and release with and
// without the flight recorder, and with the stacks of acquires. The three take
// turns, so that they see the same server at the same time. The ratios of the
// medians count. BenchmarkRecord of package claim has the cost alone.
func BenchmarkFlightRecorder(b *testing.B) {
	b.Run("server=zookeeper", func(b *testing.B) {
		recorder(b, zkserver.Start(b).Addr(), (&net.Dialer{}).DialContext)
	})
	b.Run("server=zktest-memory", func(b *testing.B) {
		srv := zktest.Start(b)
		recorder(b, srv.Addr(), srv.Dialer())
	})
}

func recorder(b *testing.B, addr string, dial framework.DialFunc) {
	cycles := []func(){
		mutexCycle(b, addr, dial, framework.WithRecentEvents(0)),
		mutexCycle(b, addr, dial),
		mutexCycle(b, addr, dial, framework.WithAcquireStacks()),
	}
	for range 2000 {
		for _, cycle := range cycles {
			cycle()
		}
	}
	times := make([][]time.Duration, len(cycles))
	for n := 0; b.Loop(); n++ {
		for i := range cycles {
			i = (i + n) % len(cycles) // each is first, second and third in turn
			start := time.Now()
			cycles[i]()
			times[i] = append(times[i], time.Since(start))
		}
	}
	none := float64(median(times[0]))
	b.ReportMetric(0, "ns/op") // the time of a round means nothing
	b.ReportMetric(none, "none-ns")
	b.ReportMetric(float64(median(times[1]))/none, "recorded/none")
	b.ReportMetric(float64(median(times[2]))/none, "stacks/none")
	b.ReportMetric(testing.AllocsPerRun(1000, cycles[0]), "none-allocs")
	b.ReportMetric(testing.AllocsPerRun(1000, cycles[1]), "recorded-allocs")
	b.ReportMetric(testing.AllocsPerRun(1000, cycles[2]), "stacks-allocs")
}
