//go:build real

package cache_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/cache"
)

var (
	followRate = flag.Int("follow-rate", 10_000, "updates per second that a cache follows in a benchmark")
	followTime = flag.Duration("follow-time", time.Minute, "how long it follows them")
)

// BenchmarkFollow lets a cache of 1000 nodes and a reader of its Changes follow
// the updates of another client, on a real server. First it follows them for ten
// seconds, and then for -follow-time. It reports these metrics:
//
//   - updates/s: updates that were made. If that is less than -follow-rate, the
//     server was too slow, or the machine.
//   - heap-MB: the heap after the ten seconds. The first collection of garbage
//     leaves what pools keep, so there are two.
//   - x-heap: the heap at the end, divided by that.
//   - changes/update: changes that the reader was told, for each update. Updates
//     of a node that follow each other closely become one.
//   - lag-ms: the longest time for which the cache was behind, as Stats told it
//     at each transaction.
func BenchmarkFollow(b *testing.B) {
	srv := zkserver.Start(b, zkserver.WithJVMFlags("-XX:TieredStopAtLevel=4"))
	for b.Loop() {
		f := &follow{B: b, writer: connectReal(b, srv), ctx: b.Context()}
		f.make(1000)
		f.follow(connectReal(b, srv))
	}
}

// follow is one run of BenchmarkFollow.
type follow struct {
	*testing.B
	ctx    context.Context
	writer *framework.Client
	paths  []string
	next   int // of the paths
	lag    time.Duration
}

func (f *follow) make(nodes int) {
	if there, _, err := f.writer.Exists(f.ctx, "/r"); there || err != nil {
		require.NoError(f, err)
		require.NoError(f, f.writer.Delete(f.ctx, "/r", framework.AnyVersion, framework.WithChildren()))
	}
	ops := []framework.TxnOp{framework.CreateOp("/r", nil)}
	for i := range nodes {
		f.paths = append(f.paths, fmt.Sprint("/r/", i))
		ops = append(ops, framework.CreateOp(f.paths[i], nil))
	}
	_, err := f.writer.Transaction(f.ctx, ops...)
	require.NoError(f, err)
}

func (f *follow) follow(client *framework.Client) {
	c, err := cache.New(client, "/r")
	require.NoError(f, err)
	defer c.Close()
	require.NoError(f, c.WaitSynced(f.ctx))
	reading, stop := context.WithCancel(f.ctx)
	var reader sync.WaitGroup
	changes := 0
	reader.Go(func() {
		for change := range c.Changes(reading) {
			if change.Type == cache.Changed {
				changes++
			}
		}
	})
	begin := time.Now()
	updates := f.update(c, 10*time.Second)
	first := heap()
	updates += f.update(c, *followTime)
	took := time.Since(begin)
	require.NoError(f, c.WaitFor(f.ctx, f.writer.LastZxid()))
	last := heap()
	stop()
	reader.Wait()
	f.ReportMetric(0, "ns/op") // it takes as long as the flags say
	f.ReportMetric(float64(updates)/took.Seconds(), "updates/s")
	f.ReportMetric(first/(1<<20), "heap-MB")
	f.ReportMetric(last/first, "x-heap")
	f.ReportMetric(float64(changes)/float64(updates), "changes/update")
	f.ReportMetric(float64(f.lag.Milliseconds()), "lag-ms")
}

// update makes updates for a time, a hundred of them in a transaction, and
// returns how many.
func (f *follow) update(c *cache.Cache, d time.Duration) (updates int) {
	const each = 100
	begin, data := time.Now(), make([]byte, 64)
	for time.Since(begin) < d {
		var ops []framework.TxnOp
		for range each {
			ops = append(ops, framework.SetOp(f.paths[f.next], data, framework.AnyVersion))
			f.next = (f.next + 1) % len(f.paths)
		}
		_, err := f.writer.Transaction(f.ctx, ops...)
		require.NoError(f, err)
		updates += each
		f.lag = max(f.lag, c.Stats().Lag)
		due := time.Duration(updates) * time.Second / time.Duration(*followRate)
		time.Sleep(due - time.Since(begin))
	}
	return updates
}

// heap returns the bytes in use after collections of garbage.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
