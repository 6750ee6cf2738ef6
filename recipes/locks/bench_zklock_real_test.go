//go:build real

package locks_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// BenchmarkAgainstZkLock compares InterProcessMutex with go-zookeeper's own
// zk.Lock, in the ways in which services use a lock. In each round all
// goroutines of a scenario acquire and release, first on one side and then on
// the other, so that both sides see the same server at the same time.
//
// The benchmark reports the medians of the time of one acquire and release
// within such a crowd. It also reports zk.Lock's time as a multiple of the
// mutex's, the median of the rounds, and this ratio is what counts. The cost of each side in requests
// and in bytes, in both directions, does not depend on the machine.
func BenchmarkAgainstZkLock(b *testing.B) {
	b.Run("server=zookeeper", func(b *testing.B) {
		srv := zkserver.Start(b)
		contests(b, srv.Addr(), nil)
	})
	b.Run("server=zktest-tcp", func(b *testing.B) {
		srv := zktest.Start(b, zktest.WithTCP("127.0.0.1:0"))
		contests(b, srv.Addr(), srv)
	})
}

// crowd describes the contenders of a scenario.
type crowd struct {
	clients int // each has its own connection
	paths   int
	// Each goroutine belongs to a client and a path, in turn. All goroutines
	// of one client and path share one mutex.
	goroutines int
	cycles     int // cycles of each goroutine in each round
	opts       []locks.MutexOption
}

func contests(b *testing.B, addr string, fake *zktest.Server) {
	handOver := []locks.MutexOption{locks.WithLocalHandOver(1000, time.Second)}
	for _, s := range []struct {
		name string
		crowd
	}{
		{"uncontended", crowd{clients: 1, paths: 1, goroutines: 1, cycles: 100}},
		{"64-paths", crowd{clients: 1, paths: 64, goroutines: 64, cycles: 10}},
		{"64-paths-4-clients", crowd{clients: 4, paths: 64, goroutines: 64, cycles: 10}},
		{"64-goroutines", crowd{clients: 1, paths: 1, goroutines: 64, cycles: 10}},
		{"64-goroutines-hand-over", crowd{clients: 1, paths: 1, goroutines: 64, cycles: 10, opts: handOver}},
		{"500-goroutines-once", crowd{clients: 1, paths: 1, goroutines: 500, cycles: 1}},
		{"500-goroutines-once-hand-over", crowd{clients: 1, paths: 1, goroutines: 500, cycles: 1, opts: handOver}},
		{"8-clients", crowd{clients: 8, paths: 1, goroutines: 8, cycles: 20}},
	} {
		b.Run(s.name, func(b *testing.B) {
			mutex, lock := mutexSide(b, addr, s.crowd), zkLockSide(b, addr, s.crowd)
			contest(b, mutex, lock, fake)
		})
	}
}

// side is one of the two implementations that are compared.
type side struct {
	name  string
	crowd crowd
	cycle func(goroutine int) error // acquires and releases
	bytes *atomic.Int64

	times    []time.Duration // time of a cycle, in each round
	requests int
}

func contest(b *testing.B, mutex, lock *side, fake *zktest.Server) {
	warm := time.Now()
	for range 2 { // the first round makes paths and connections
		mutex.round(b, fake)
		lock.round(b, fake)
	}
	for fake == nil && time.Since(warm) < 3*time.Second { // the server's JVM compiles its code meanwhile
		mutex.round(b, fake)
		lock.round(b, fake)
	}
	mutex.reset()
	lock.reset()
	for b.Loop() {
		mutex.round(b, fake)
		lock.round(b, fake)
	}
	b.ReportMetric(0, "ns/op") // the time of a pair means nothing
	const name = "mutex/s:zk.Lock/s"
	middle, from, to := ratios(lock.times, mutex.times)
	b.ReportMetric(middle, name)
	b.ReportMetric(from, name+"-from")
	b.ReportMetric(to, name+"-to")
	mutex.report(b, fake)
	lock.report(b, fake)
}

// ratios returns the median of the rounds' ratios, and between which ratios the
// rounds were, without the outermost tenth.
func ratios(theirs, ours []time.Duration) (middle, from, to float64) {
	var all []float64
	for i := range theirs {
		all = append(all, float64(theirs[i])/float64(ours[i]))
	}
	slices.Sort(all)
	n, outliers := len(all), len(all)/10
	return (all[(n-1)/2] + all[n/2]) / 2, all[outliers], all[n-1-outliers]
}

// The middle is between the ends: it is the median of the same ratios. That of two
// medians can be outside.
func TestRatiosAreThoseOfRounds(t *testing.T) {
	middle, from, to := ratios([]time.Duration{10, 2, 9}, []time.Duration{1, 2, 3})
	require.Equal(t, []float64{3, 1, 10}, []float64{middle, from, to})
	middle, _, _ = ratios([]time.Duration{2, 4}, []time.Duration{2, 2})
	require.Equal(t, 1.5, middle)
}

// round lets every goroutine of the crowd run its cycles.
func (s *side) round(b *testing.B, fake *zktest.Server) {
	before := requestsOf(fake)
	start := time.Now()
	var all sync.WaitGroup
	for g := range s.crowd.goroutines {
		all.Go(func() {
			for range s.crowd.cycles {
				if err := s.cycle(g); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	s.times = append(s.times, time.Since(start)/time.Duration(s.crowd.goroutines*s.crowd.cycles))
	s.requests += requestsOf(fake) - before
}

func requestsOf(fake *zktest.Server) int {
	if fake == nil {
		return 0
	}
	return fake.CountRequests(zktest.OpAny)
}

func (s *side) reset() {
	s.times, s.requests = nil, 0
	s.bytes.Store(0)
}

func (s *side) report(b *testing.B, fake *zktest.Server) {
	cycles := float64(len(s.times) * s.crowd.goroutines * s.crowd.cycles)
	b.ReportMetric(float64(median(s.times).Nanoseconds()), s.name+"-ns")
	b.ReportMetric(float64(s.bytes.Load())/cycles, s.name+"-B")
	if fake != nil {
		b.ReportMetric(float64(s.requests)/cycles, s.name+"-reqs")
	}
}

func mutexSide(b *testing.B, addr string, who crowd) *side {
	s := &side{name: "mutex", crowd: who, bytes: new(atomic.Int64)}
	mutexes := map[[2]int]*locks.InterProcessMutex{}
	for i := range who.clients {
		c, err := framework.New(addr, framework.WithDialer(counting(s.bytes)))
		require.NoError(b, err)
		b.Cleanup(func() { c.Close() })
		for p := range who.paths {
			mutexes[[2]int{i, p}] = locks.NewInterProcessMutex(c, fmt.Sprint("/bench/mutex-", p), who.opts...)
		}
	}
	ctx := b.Context()
	s.cycle = func(g int) error {
		lease, err := mutexes[[2]int{g % who.clients, g % who.paths}].Acquire(ctx)
		if err != nil {
			return err
		}
		return lease.Release(ctx)
	}
	return s
}

// zkLockSide has a zk.Lock for each goroutine, because goroutines cannot share
// one.
func zkLockSide(b *testing.B, addr string, who crowd) *side {
	s := &side{name: "zk.Lock", crowd: who, bytes: new(atomic.Int64)}
	dial := counting(s.bytes)
	var conns []*zk.Conn
	for range who.clients {
		conn, _, err := zk.Connect([]string{addr}, 15*time.Second, zk.WithLogger(silent{}),
			zk.WithDialer(func(network, address string, _ time.Duration) (net.Conn, error) {
				return dial(b.Context(), network, address)
			}))
		require.NoError(b, err)
		b.Cleanup(conn.Close)
		conns = append(conns, conn)
	}
	var locks []*zk.Lock
	for g := range who.goroutines {
		path := fmt.Sprint("/bench/zk.Lock-", g%who.paths)
		locks = append(locks, zk.NewLock(conns[g%who.clients], path, zk.WorldACL(zk.PermAll)))
	}
	s.cycle = func(g int) error {
		if err := locks[g].Lock(); err != nil {
			return err
		}
		return locks[g].Unlock()
	}
	return s
}

// counting returns a dialer whose connections add to n the bytes that pass
// through them.
func counting(n *atomic.Int64) framework.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countingConn{nc, n}, nil
	}
}

type countingConn struct {
	net.Conn
	n *atomic.Int64
}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n.Add(int64(n))
	return n, err
}

func (c *countingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.n.Add(int64(n))
	return n, err
}
