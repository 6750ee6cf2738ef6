//go:build real

package locks_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
)

var crowds = flag.String("crowds", "1000", "how many contenders BenchmarkCrowdOfOneClient has, separated by commas")

// BenchmarkCrowdOfOneClient lets n goroutines acquire one lock at once, each
// with an object of its own, and release it. They share one client, and the
// server has a heap of 1 GB. For comparison, n zk.Lock objects of go-zookeeper
// do the same on one connection. Readers wait until all have nodes: a writer of
// another client has the lock. One run of all goroutines is one operation. The
// benchmark reports:
//
//   - first-ms: the time until the first goroutine has the lock;
//   - all-ms: the time until the last goroutine has released it;
//   - lost: the number of lost sessions;
//   - heap-MB: the most that was on the server's heap, or 0 if the server
//     never collected garbage;
//   - goroutines: the most goroutines that this process had;
//   - reqs: the requests for each acquire, pings included;
//   - x-zk.Lock: how many times as long all of zk.Lock's took.
//
// The times are medians.
//
// This command runs it with more contenders:
//
//	go test ./recipes/locks -run '^$' -bench CrowdOfOneClient \
//		-benchtime 1x -crowds 1000,5000,10000
func BenchmarkCrowdOfOneClient(b *testing.B) {
	for _, text := range strings.Split(*crowds, ",") {
		n, err := strconv.Atoi(text)
		require.NoError(b, err)
		var beside time.Duration // what zk.Lock took
		for _, side := range []struct {
			name string
			of   func(b *testing.B, addr string) (lost *atomic.Int64, cycle func(i int, locked func()) error)
		}{
			{zkLock, crowdOfZkLocks}, {"mutex", crowdOfMutexes}, {"semaphore", crowdOfSemaphores},
			{"writer", crowdOfWriters}, {readers, crowdOfReaders},
		} {
			b.Run(fmt.Sprintf("contenders=%d/%s", n, side.name), func(b *testing.B) {
				log := filepath.Join(b.TempDir(), "gc.log")
				srv := zkserver.Start(b, zkserver.WithJVMFlags("-Xmx1g", "-Xlog:gc:file="+log))
				lost, cycle := side.of(b, srv.Addr())
				c := &crowdOfOne{n: n, cycle: cycle}
				if side.name == readers {
					c.writer = connectCrowd(b, srv.Addr())
				}
				for b.Loop() {
					c.run(b, srv)
				}
				c.report(b)
				if side.name == zkLock {
					beside = median(c.all)
				} else if beside > 0 { // else it was not chosen
					b.ReportMetric(beside.Seconds()/median(c.all).Seconds(), "x-zk.Lock")
				}
				b.ReportMetric(float64(lost.Load()), "lost")
				b.ReportMetric(mostHeap(b, log), "heap-MB")
			})
		}
	}
}

const (
	readers = "reader"  // the side that holds the lock together
	zkLock  = "zk.Lock" // the side that the others are compared with
)

type crowdOfOne struct {
	n      int
	cycle  func(i int, locked func()) error
	writer *framework.Client // of readers; nil for others

	first, all []time.Duration
	requests   int
	goroutines atomic.Int64
}

func (c *crowdOfOne) run(b *testing.B, srv *zkserver.Server) {
	before := received(b, srv)
	var all sync.WaitGroup
	var inside atomic.Int64
	start := time.Now()
	if c.writer != nil {
		all.Go(c.holdUp(b))
	}
	begun := sync.OnceFunc(func() { c.first = append(c.first, time.Since(start)) })
	for i := range c.n {
		all.Go(func() {
			err := c.cycle(i, func() {
				begun()
				c.goroutines.Store(max(c.goroutines.Load(), int64(runtime.NumGoroutine())))
				if inside.Add(1) != 1 && c.writer == nil {
					b.Error("two holders")
				}
				inside.Add(-1)
			})
			if err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	c.all = append(c.all, time.Since(start))
	c.requests += received(b, srv) - before
}

// holdUp takes the write lock. The function that it returns has it until all
// readers have nodes.
func (c *crowdOfOne) holdUp(b *testing.B) func() {
	lease := hold(b, b.Context(), writeLock(c.writer, readersPath))
	return func() {
		defer lease.Release(b.Context())
		for nodes := int32(0); nodes <= int32(c.n); time.Sleep(10 * time.Millisecond) {
			_, stat, err := c.writer.Get(b.Context(), readersPath)
			if err != nil {
				b.Error(err)
				return
			}
			nodes = stat.NumChildren
		}
	}
}

func (c *crowdOfOne) report(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(median(c.first).Milliseconds()), "first-ms")
	b.ReportMetric(float64(median(c.all).Milliseconds()), "all-ms")
	b.ReportMetric(float64(c.goroutines.Load()), "goroutines")
	b.ReportMetric(float64(c.requests)/float64(c.n*len(c.all)), "reqs")
}

// received returns how many requests a server has got, pings included.
func received(b *testing.B, srv *zkserver.Server) int {
	metrics, err := srv.Metrics(b.Context())
	require.NoError(b, err)
	n, err := strconv.Atoi(metrics["zk_packets_received"])
	require.NoError(b, err)
	return n
}

// mostHeap returns the largest size of the server's heap before a collection,
// in megabytes.
func mostHeap(b *testing.B, log string) float64 {
	text, err := os.ReadFile(log)
	require.NoError(b, err)
	var used []float64
	for _, found := range regexp.MustCompile(`(\d+)M->\d+M`).FindAllStringSubmatch(string(text), -1) {
		n, err := strconv.ParseFloat(found[1], 64)
		require.NoError(b, err)
		used = append(used, n)
	}
	return slices.Max(append(used, 0))
}

func crowdOfMutexes(b *testing.B, addr string) (*atomic.Int64, func(int, func()) error) {
	return crowdOfLockers(b, addr, func(c *framework.Client) locks.Locker {
		return locks.NewInterProcessMutex(c, "/crowd/mutex")
	})
}

func crowdOfSemaphores(b *testing.B, addr string) (*atomic.Int64, func(int, func()) error) {
	return crowdOfLockers(b, addr, func(c *framework.Client) locks.Locker {
		return locks.NewInterProcessSemaphoreMutex(c, "/crowd/semaphore")
	})
}

func crowdOfWriters(b *testing.B, addr string) (*atomic.Int64, func(int, func()) error) {
	return crowdOfLockers(b, addr, func(c *framework.Client) locks.Locker { return writeLock(c, "/crowd/writers") })
}

const readersPath = "/crowd/readers"

func crowdOfReaders(b *testing.B, addr string) (*atomic.Int64, func(int, func()) error) {
	return crowdOfLockers(b, addr, func(c *framework.Client) locks.Locker { return readLock(c, readersPath) })
}

func connectCrowd(b *testing.B, addr string) *framework.Client {
	c, err := framework.New(addr, framework.WithSessionTimeout(15*time.Second))
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	require.NoError(b, c.WaitConnected(b.Context()))
	return c
}

func crowdOfLockers(b *testing.B, addr string, object func(c *framework.Client) locks.Locker) (lost *atomic.Int64, cycle func(int, func()) error) {
	c := connectCrowd(b, addr)
	lost = new(atomic.Int64)
	ctx := b.Context()
	return lost, func(_ int, locked func()) error {
		defer func() { lost.Store(max(lost.Load(), int64(sessionNumber(b, c))-1)) }()
		lease, err := object(c).Acquire(ctx)
		if err != nil {
			return err
		}
		locked()
		return lease.Release(ctx)
	}
}

func crowdOfZkLocks(b *testing.B, addr string) (lost *atomic.Int64, cycle func(int, func()) error) {
	lost = new(atomic.Int64)
	dial := func(network, address string, _ time.Duration) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(context.Background(), network, address)
	}
	conn, _, err := zk.Connect([]string{addr}, 15*time.Second, zk.WithLogger(silent{}), zk.WithDialer(dial),
		zk.WithEventCallback(func(e zk.Event) {
			if e.State == zk.StateExpired {
				lost.Add(1)
			}
		}))
	require.NoError(b, err)
	b.Cleanup(conn.Close)
	return lost, func(_ int, locked func()) error {
		l := zk.NewLock(conn, "/crowd/zk.Lock", zk.WorldACL(zk.PermAll))
		if err := l.Lock(); err != nil {
			return err
		}
		locked()
		return l.Unlock()
	}
}
