package locks_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zkserver"
)

// BenchmarkMultiLock compares one acquire and release of mutexes that are taken
// one after the other with one of the same number that are taken by a
// transaction. The two sides take turns.
func BenchmarkMultiLock(b *testing.B) {
	srv := zkserver.Start(b)
	c, err := framework.New(srv.Addr(), framework.WithDialer((&net.Dialer{}).DialContext))
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	for _, n := range []int{3, 8} {
		b.Run(fmt.Sprint("locks=", n), func(b *testing.B) {
			one := cycleOf(b, locks.NewInterProcessMultiLock(locks.SortedMutexes(c, pathsBelow("/bench/one", n))...))
			together := cycleOf(b, locks.NewAtomicMultiLock(c, pathsBelow("/bench/together", n)))
			for range 500 { // the server's JVM compiles its code meanwhile
				one()
				together()
			}
			var ones, togethers []time.Duration
			for b.Loop() {
				start := time.Now()
				one()
				between := time.Now()
				together()
				ones, togethers = append(ones, between.Sub(start)), append(togethers, time.Since(between))
			}
			oneTime, togetherTime := median(ones), median(togethers)
			b.ReportMetric(0, "ns/op") // the time of a pair means nothing
			b.ReportMetric(float64(oneTime.Nanoseconds()), "one-by-one-ns")
			b.ReportMetric(float64(togetherTime.Nanoseconds()), "together-ns")
			b.ReportMetric(float64(oneTime)/float64(togetherTime), "times-as-fast")
		})
	}
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
