//go:build real

package locks_test

import (
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// BenchmarkUncontended compares one acquire and release of the mutex with the
// three requests that it consists of, sent by go-zookeeper alone. The two
// sides take turns, so that both see the same server at the same time. The
// benchmark reports the medians of their durations, along with the ratio. The
// ratio is what counts, because machines differ and are busy.
func BenchmarkUncontended(b *testing.B) {
	b.Run("server=zookeeper", func(b *testing.B) {
		srv := zkserver.Start(b)
		uncontended(b, srv.Addr(), (&net.Dialer{}).DialContext)
	})
	b.Run("server=zktest-tcp", func(b *testing.B) {
		srv := zktest.Start(b, zktest.WithTCP("127.0.0.1:0"))
		uncontended(b, srv.Addr(), (&net.Dialer{}).DialContext)
	})
	b.Run("server=zktest-memory", func(b *testing.B) {
		srv := zktest.Start(b)
		uncontended(b, srv.Addr(), srv.Dialer())
	})
}

func uncontended(b *testing.B, addr string, dial framework.DialFunc) {
	bare, mutex := bareCycle(b, addr, dial), mutexCycle(b, addr, dial)
	for range 5000 { // the server's JVM compiles its code meanwhile
		bare()
		mutex()
	}
	var bareTimes, mutexTimes []time.Duration
	for b.Loop() {
		start := time.Now()
		bare()
		between := time.Now()
		mutex()
		bareTimes = append(bareTimes, between.Sub(start))
		mutexTimes = append(mutexTimes, time.Since(between))
	}
	bareTime, mutexTime := median(bareTimes), median(mutexTimes)
	b.ReportMetric(0, "ns/op") // the time of a pair means nothing
	b.ReportMetric(float64(bareTime.Nanoseconds()), "bare-ns")
	b.ReportMetric(float64(mutexTime.Nanoseconds()), "mutex-ns")
	b.ReportMetric(float64(mutexTime)/float64(bareTime), "mutex/bare")
	b.ReportMetric(float64(time.Second)/float64(mutexTime), "mutex-cycles/s")
	b.ReportMetric(testing.AllocsPerRun(100, bare), "bare-allocs")
	b.ReportMetric(testing.AllocsPerRun(100, mutex), "mutex-allocs")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return (d[(len(d)-1)/2] + d[len(d)/2]) / 2
}

// mutexCycle returns a function that acquires and releases a mutex once.
func mutexCycle(b *testing.B, addr string, dial framework.DialFunc, opts ...framework.Option) func() {
	c, err := framework.New(addr, append(opts, framework.WithDialer(dial))...)
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	ctx := b.Context()
	m := locks.NewInterProcessMutex(c, "/bench/mutex")
	return func() {
		lease, err := m.Acquire(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if err := lease.Release(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// bareCycle returns a function that sends the same requests, with a name of
// the same length, straight to the library.
func bareCycle(b *testing.B, addr string, dial framework.DialFunc) func() {
	conn, _, err := zk.Connect([]string{addr}, 15*time.Second, zk.WithLogger(silent{}),
		zk.WithDialer(func(network, address string, _ time.Duration) (net.Conn, error) {
			return dial(b.Context(), network, address)
		}))
	require.NoError(b, err)
	b.Cleanup(conn.Close)
	for _, path := range []string{"/bench", "/bench/bare"} {
		if _, err := conn.CreateContainer(path, nil, zk.FlagContainer, zk.WorldACL(zk.PermAll)); !errors.Is(err, zk.ErrNodeExists) {
			require.NoError(b, err)
		}
	}
	data, acl := []byte("host/12345"), zk.WorldACL(zk.PermAll)
	return func() {
		path, err := conn.Create("/bench/bare/_c_3e5a60df-061d-4981-a166-73c06f3f53fc-lock-", data, zk.FlagEphemeralSequential, acl)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := conn.Children("/bench/bare"); err != nil {
			b.Fatal(err)
		}
		if err := conn.Delete(path, -1); err != nil {
			b.Fatal(err)
		}
	}
}
