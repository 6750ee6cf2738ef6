//go:build real

package interop_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/cache"
)

var (
	cachedNodes = flag.Int("cached", 100_000, "how many nodes our cache has in a benchmark")

	// A CuratorCache that begins to read more than 65,535 nodes at a time stops
	// with the error "Attempt to register more than 65535 parties", of a Phaser.
	curatorNodes = flag.Int("cached-by-curator", 60_000, "how many nodes both caches have in a benchmark")
)

// BenchmarkFirstSync fills one of our caches from a real server. Beside it, it
// makes the same reads without a cache, in 64 goroutines that share a
// connection of go-zookeeper and know all paths beforehand. With a smaller tree
// it fills a CuratorCache, too. Each round has one of each kind, so that all of
// them see the same server. These are the metrics; times and ratios are medians
// of the rounds:
//
//   - our-ms: our time.
//   - x-plain: our time divided by the time of the plain reads.
//   - x-curator: our time divided by Curator's.
//   - our-B and curator-B: the memory for one node, which has 64 bytes of data:
//     what is in use after a collection of garbage, with the cache and without.
//   - our-reqs and curator-reqs: the requests for one node.
func BenchmarkFirstSync(b *testing.B) {
	javaCurator.get(b)
	srv := zkserver.Start(b, zkserver.WithJVMFlags("-XX:TieredStopAtLevel=4"))
	b.Run("plain", func(b *testing.B) { compareSyncs(b, srv.Addr(), *cachedNodes, false) })
	b.Run("curator", func(b *testing.B) { compareSyncs(b, srv.Addr(), *curatorNodes, true) })
}

func compareSyncs(b *testing.B, addr string, n int, withCurator bool) {
	root := fmt.Sprint("/", n)
	all := makeTree(b, addr, root, n)
	meter := startMeter(b, addr)
	plain, sides := plainReads(b, addr, all), map[string]syncs{"our": ourSyncs(b, addr, root)}
	metered := map[string]syncs{"our": ourSyncs(b, meter.addr(), root)}
	if withCurator {
		sides["curator"], metered["curator"] = curatorSyncs(b, addr, root), curatorSyncs(b, meter.addr(), root)
	}
	once := func() (bare time.Duration, costs map[string]syncCost) {
		bare, costs = plain.must(b), map[string]syncCost{}
		for _, name := range slices.Sorted(maps.Keys(sides)) {
			costs[name] = sides[name](b)
			require.Equal(b, n, costs[name].nodes, name)
		}
		return bare, costs
	}
	for warm := time.Now(); time.Since(warm) < *warmUp; {
		once()
	}
	var times, xPlain, xCurator []float64
	var costs map[string]syncCost
	for b.Loop() {
		var bare time.Duration
		bare, costs = once()
		our := costs["our"].took
		times = append(times, float64(our.Milliseconds()))
		xPlain = append(xPlain, float64(our)/float64(bare))
		xCurator = append(xCurator, float64(our)/float64(max(1, costs["curator"].took)))
	}
	b.ReportMetric(0, "ns/op") // of a round, which means nothing
	b.ReportMetric(median(times), "our-ms")
	b.ReportMetric(median(xPlain), "x-plain")
	if withCurator {
		b.ReportMetric(median(xCurator), "x-curator")
	}
	for name, sync := range metered {
		b.ReportMetric(float64(costs[name].bytes)/float64(n), name+"-B")
		requests, _ := meter.cost(b, func() (time.Duration, error) { return sync(b).took, nil })
		b.ReportMetric(float64(requests)/float64(n), name+"-reqs")
	}
}

// makeTree creates n nodes, and returns their paths. Below the root there are
// parents with up to 1000 children each.
func makeTree(b *testing.B, addr, root string, n int) (all []string) {
	c, err := framework.New(addr, framework.WithSessionTimeout(longSession))
	require.NoError(b, err)
	defer c.Close()
	if there, _, err := c.Exists(b.Context(), root); there || err != nil { // the benchmark is run with several counts
		require.NoError(b, err)
		require.NoError(b, c.Delete(b.Context(), root, framework.AnyVersion, framework.WithChildren()))
	}
	all = append(all, root)
	for parent := 0; len(all) < n; parent++ {
		path := fmt.Sprintf("%s/service-%d", root, parent)
		all = append(all, path)
		for child := 0; child < 1000 && len(all) < n; child++ {
			all = append(all, fmt.Sprintf("%s/instance-%08d", path, child))
		}
	}
	for some := range slices.Chunk(all, 1000) {
		var ops []framework.TxnOp
		for _, path := range some {
			ops = append(ops, framework.CreateOp(path, make([]byte, 64)))
		}
		_, err := c.Transaction(b.Context(), ops...)
		require.NoError(b, err)
	}
	return all
}

// plainReads returns rounds that read every node, and list the children of
// every parent.
func plainReads(b *testing.B, addr string, all []string) round {
	conn, _, err := zk.Connect([]string{addr}, longSession, zk.WithLogInfo(false))
	require.NoError(b, err)
	b.Cleanup(conn.Close)
	return func() (time.Duration, error) {
		var readers sync.WaitGroup
		paths := make(chan string)
		start := time.Now()
		for range 64 {
			readers.Go(func() {
				for path := range paths {
					_, stat, err := conn.Get(path)
					if err == nil && stat.NumChildren > 0 {
						_, _, err = conn.Children(path)
					}
					if err != nil {
						b.Error(err)
					}
				}
			})
		}
		for _, path := range all {
			paths <- path
		}
		close(paths)
		readers.Wait()
		return time.Since(start), nil
	}
}

// syncCost is what it has cost to fill a cache.
type syncCost struct {
	took         time.Duration
	nodes, bytes int
}

// syncs fills a cache once.
type syncs func(testing.TB) syncCost

func ourSyncs(b *testing.B, addr, root string) syncs {
	client, err := framework.New(addr, framework.WithSessionTimeout(longSession))
	require.NoError(b, err)
	b.Cleanup(func() { client.Close() })
	require.NoError(b, client.WaitConnected(b.Context()))
	return func(t testing.TB) syncCost {
		before := memoryInUse()
		start := time.Now()
		c, err := cache.New(client, root)
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.WaitSynced(t.Context()))
		cost := syncCost{took: time.Since(start), bytes: memoryInUse() - before}
		cost.nodes = c.Stats().Nodes
		return cost
	}
}

// memoryInUse returns the bytes that are in use after a collection of garbage.
// The first collection leaves what pools keep.
func memoryInUse() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func curatorSyncs(b *testing.B, addr, root string) syncs {
	java := startProcessWith(b, nil, addr, longSession)
	return func(t testing.TB) syncCost {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		words, err := java.ask(ctx, "node-measure", root)
		require.NoError(t, err)
		require.Len(t, words, 3)
		took, err := time.ParseDuration(words[0] + "ns")
		require.NoError(t, err)
		nodes, err := strconv.Atoi(words[1])
		require.NoError(t, err)
		bytes, err := strconv.Atoi(words[2])
		require.NoError(t, err)
		return syncCost{took, nodes, bytes}
	}
}
