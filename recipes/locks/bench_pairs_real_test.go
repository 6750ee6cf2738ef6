//go:build real

package locks_test

import (
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

// turn is one of two sides that a benchmark compares.
type turn struct {
	name  string
	cycle func() // acquires and releases
}

// comparePairs lets two sides take turns, and reports the medians of their times
// and how many times as fast the second is.
func comparePairs(b *testing.B, slow, fast turn) {
	for range 500 { // the server's JVM compiles its code meanwhile
		slow.cycle()
		fast.cycle()
	}
	var slows, fasts []time.Duration
	for b.Loop() {
		start := time.Now()
		slow.cycle()
		between := time.Now()
		fast.cycle()
		slows, fasts = append(slows, between.Sub(start)), append(fasts, time.Since(between))
	}
	slowTime, fastTime := median(slows), median(fasts)
	b.ReportMetric(0, "ns/op") // the time of a pair means nothing
	b.ReportMetric(float64(slowTime.Nanoseconds()), slow.name+"-ns")
	b.ReportMetric(float64(fastTime.Nanoseconds()), fast.name+"-ns")
	b.ReportMetric(float64(slowTime)/float64(fastTime), "times-as-fast")
}

// cycleOf returns a function that acquires and releases a lock once.
func cycleOf(b *testing.B, l locks.Locker) func() {
	return func() {
		lease, err := l.Acquire(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if err := lease.Release(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
