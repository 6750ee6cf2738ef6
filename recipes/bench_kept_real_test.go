//go:build real

package recipes_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// BenchmarkKept reports the bytes of heap and stack that one client keeps for each lock
// that it holds, for each lock that it waits for at the server, and for each latch that
// does not lead. Each lock and latch has its own path, and waits for a node of another
// client. The figures describe the settled state, in which all watches are set. The
// server is another process.
//
//	go test -tags real ./recipes -run '^$' -bench Kept -benchtime 1x
func BenchmarkKept(b *testing.B) {
	b.Run("held", func(b *testing.B) { benchmarkKept(b, (*kept).hold) })
	b.Run("waiter", func(b *testing.B) { benchmarkKept(b, (*kept).wait) })
	b.Run("latch", func(b *testing.B) { benchmarkKept(b, (*kept).stand) })
}

func benchmarkKept(b *testing.B, keep func(*kept)) {
	srv := zkserver.Start(b)
	once := func() {
		k := &kept{B: b, ctx: b.Context(), other: connectReal(b, srv), client: connectReal(b, srv)}
		keep(k)
		require.NoError(b, k.other.Close())
		require.NoError(b, k.client.Close())
	}
	once() // fills what the process keeps once
	for b.Loop() {
		once()
	}
	b.ReportMetric(0, "ns/op")
}

// keptObjects is how many locks, or latches, there are.
const keptObjects = 500

// kept is one run of BenchmarkKept.
type kept struct {
	*testing.B
	ctx           context.Context
	other, client *framework.Client
	before        float64
}

func connectReal(b *testing.B, srv *zkserver.Server) *framework.Client {
	b.Helper()
	c, err := framework.Connect(b.Context(), srv.Addr(), framework.WithSessionTimeout(40*time.Second))
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	return c
}

func (k *kept) mutex(c *framework.Client, i int) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(c, fmt.Sprint("/kept/locks/", i))
}

func (k *kept) hold() {
	for i := range keptObjects { // makes the parents
		require.NoError(k, k.mutex(k.client, i).Do(k.ctx, func(context.Context) error { return nil }))
	}
	k.start()
	var leases [keptObjects]*locks.Lease
	for i := range leases {
		lease, err := k.mutex(k.client, i).Acquire(k.ctx)
		require.NoError(k, err)
		leases[i] = lease
	}
	k.report(1)
	for _, lease := range leases {
		require.NoError(k, lease.Release(k.ctx))
	}
}

func (k *kept) wait() {
	for i := range keptObjects {
		_, err := k.mutex(k.other, i).Acquire(k.ctx)
		require.NoError(k, err)
	}
	k.awaitWatches(k.other, 1)
	k.start()
	ctx, leave := context.WithCancel(k.ctx)
	var waiters sync.WaitGroup
	for i := range keptObjects {
		waiters.Go(func() {
			_, err := k.mutex(k.client, i).Acquire(ctx)
			require.ErrorIs(k, err, context.Canceled)
		})
	}
	k.report(2)
	leave()
	waiters.Wait()
}

func (k *kept) stand() {
	latch := func(c *framework.Client, i int) *leader.Latch {
		l, err := leader.NewLatch(c, fmt.Sprint("/kept/latches/", i))
		require.NoError(k, err)
		return l
	}
	for i := range keptObjects {
		_, err := latch(k.other, i).WaitLeadership(k.ctx)
		require.NoError(k, err)
	}
	k.awaitWatches(k.other, 1)
	k.start()
	var latches [keptObjects]*leader.Latch
	for i := range latches {
		latches[i] = latch(k.client, i)
	}
	k.report(2)
	for _, l := range latches {
		require.NoError(k, l.Shutdown(k.ctx))
	}
}

// start notes what the process keeps without the locks or latches.
func (k *kept) start() { k.before = memory() }

// report reports what each lock or latch keeps once it has its watches: one on the
// client's own node, and one on the node that the client waits for.
func (k *kept) report(watches int) {
	k.awaitWatches(k.client, watches)
	k.ReportMetric((memory()-k.before)/keptObjects, "B/object")
}

// awaitWatches waits until a client has so many watches for each lock or latch.
func (k *kept) awaitWatches(c *framework.Client, n int) {
	require.Eventually(k, func() bool {
		set := 0
		for _, w := range framework.Extend(c).Status().Watches {
			if w.Set {
				set++
			}
		}
		return set == n*keptObjects
	}, time.Minute, 100*time.Millisecond, "there are %d", insider.Of(c).Watches())
}

func memory() float64 {
	runtime.GC()
	runtime.GC() // what pools keep goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}
