package locks_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

var growth = flag.String("growth", "", "sizes of the crowds of TestCostDoesNotGrowWithTheCrowd, separated by\n"+
	"commas; with it the test prints what it counts, in the format of benchmarks")

// Each connection keeps a buffer of the size of a long answer for a while, on both
// sides, if that is no longer than 256 KiB. So 10,000 clients in one queue would need
// more memory than most machines have.
const mostClients = 1000

// crowdCost is what one acquire and release costs in a crowd.
type crowdCost struct {
	requests float64 // including the requests of the acquire's wait
	lists    float64 // how often the queue was listed
	memory   float64 // bytes while it waits or holds, including the fake server's
	routines float64 // goroutines meanwhile, including the fake server's
}

// A contender lists the queue when it comes and when it is woken, at most. What a
// lock costs does not depend on how many wait for it, or on how many locks
// a client holds. The crowds are:
//
//   - goroutines: n goroutines of one client wait for one lock;
//   - clients: n clients wait for one lock;
//   - locks: one client holds n locks.
//
// This command prints the figures of larger crowds:
//
//	go test ./recipes/locks -run TestCostDoesNotGrowWithTheCrowd -v -growth 1,10,100,1000,10000
func TestCostDoesNotGrowWithTheCrowd(t *testing.T) {
	sizes := *growth
	if sizes == "" {
		sizes = "8,64"
	}
	for _, crowd := range []struct {
		name string
		most int
		cost func(*testing.T, *world, int) crowdCost
	}{{"goroutines", 10_000, costOfGoroutines}, {"clients", mostClients, costOfClients}, {"locks", 10_000, costOfLocks}} {
		var first crowdCost
		for i, text := range strings.Split(sizes, ",") {
			n, err := strconv.Atoi(text)
			require.NoError(t, err)
			if n > crowd.most {
				continue
			}
			inVirtualTime(t, func(t *testing.T, w *world) {
				cost := crowd.cost(t, w, n)
				if *growth != "" {
					fmt.Printf("BenchmarkGrowth/%s/n=%d 1 %.2f reqs %.2f lists %.0f B %.2f goroutines\n",
						crowd.name, n, cost.requests, cost.lists, cost.memory, cost.routines)
				}
				require.LessOrEqual(t, cost.lists, 2.0, "%s: %d", crowd.name, n)
				// Create, list, watch, list, delete, and the holder's node. One more
				// lets the crowd begin. How many wait when they come, is by chance.
				require.LessOrEqual(t, cost.requests, 6+1/float64(n), "%s: %d", crowd.name, n)
				if i == 0 {
					first = cost
					return
				}
				require.LessOrEqual(t, cost.routines, first.routines, "%s: %d", crowd.name, n)
			})
		}
	}
}

// costOfGoroutines lets goroutines of one client wait for one lock.
func costOfGoroutines(t *testing.T, w *world, n int) crowdCost {
	c, _ := w.Connect(t)
	return costOfWaiters(t, w, n, func(int) *framework.Client { return c })
}

// costOfClients lets clients wait for one lock.
func costOfClients(t *testing.T, w *world, n int) crowdCost {
	clients := make([]*framework.Client, n)
	for i := range clients {
		clients[i], _ = w.Connect(t)
	}
	return costOfWaiters(t, w, n, func(i int) *framework.Client { return clients[i] })
}

func costOfWaiters(t *testing.T, w *world, n int, client func(int) *framework.Client) crowdCost {
	first := hold(t, w.Patience(t), mutexAt(w.Observer))
	m := startMeter(w)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { cycle(t, w.Patience(t), mutexAt(client(i))) })
	}
	time.Sleep(time.Second) // they read who has the lock
	m.stopMemory()
	require.NoError(t, first.Release(w.Patience(t)))
	all.Wait()
	return m.of(w, n)
}

// cycle acquires and releases, on a new goroutine.
func cycle(t *testing.T, ctx context.Context, l locks.Locker) {
	lease, err := l.Acquire(ctx)
	if err == nil {
		err = lease.Release(ctx)
	}
	if err != nil {
		t.Error(err)
	}
}

// costOfLocks lets one client hold locks.
func costOfLocks(t *testing.T, w *world, n int) crowdCost {
	c, _ := w.Connect(t)
	paths := make([]string, n)
	for i := range paths { // makes the parents
		paths[i] = fmt.Sprint("/locks/", i)
		cycle(t, w.Patience(t), locks.NewInterProcessMutex(c, paths[i]))
	}
	m := startMeter(w)
	leases := make([]*locks.Lease, n)
	for i, path := range paths {
		leases[i] = hold(t, w.Patience(t), locks.NewInterProcessMutex(c, path))
	}
	time.Sleep(2 * time.Second)
	require.Equal(t, n, insider.Of(c).Watches(), "what is measured is not yet what a lock costs that is held")
	m.stopMemory()
	require.LessOrEqual(t, m.routines, 0.0, "it may be less: one of an earlier test ends meanwhile")
	for _, lease := range leases {
		require.NoError(t, lease.Release(w.Patience(t)))
	}
	return m.of(w, n)
}

// crowdMeter is the state of this process, and then what a crowd has added.
type crowdMeter struct{ memory, routines float64 }

func startMeter(w *world) *crowdMeter {
	synctest.Wait()
	w.Fake.ClearRequests()
	m := &crowdMeter{}
	m.memory, m.routines = stateOfProcess()
	return m
}

func (m *crowdMeter) stopMemory() {
	synctest.Wait()
	memory, routines := stateOfProcess()
	m.memory, m.routines = memory-m.memory, routines-m.routines
}

func stateOfProcess() (memory, routines float64) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse), float64(runtime.NumGoroutine())
}

// of returns the cost for each of n.
func (m *crowdMeter) of(w *world, n int) crowdCost {
	count := func(op zktest.Op) float64 { return float64(w.Fake.CountRequests(op)) / float64(n) }
	return crowdCost{
		requests: count(zktest.OpAny), lists: count(zktest.OpGetChildren),
		memory: m.memory / float64(n), routines: m.routines / float64(n),
	}
}
