//go:build real

package interop_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
)

// BenchmarkAgainstCurator compares InterProcessMutex with Java Curator's on a
// real server, in the ways in which services use a lock. In each round all
// members acquire and release, first on one side and then on the other, so that
// both sides see the same server at the same time. It reports these metrics:
//
//   - our-ns and curator-ns: the median time of one acquire and release in such
//     a crowd.
//   - x-curator: Curator's time divided by ours, the median of the rounds. This
//     is the figure to read. Most rounds were between x-curator-from and
//     x-curator-to.
//   - reqs and B: requests, and bytes in both directions. They do not depend on
//     the machine, and are counted apart from the time, through a relay.
//
// Each side is one process, whose clients have a connection each. In
// 8-processes there are eight processes. Java runs with its default flags, and
// has time to compile before the measurement.
func BenchmarkAgainstCurator(b *testing.B) {
	javaCurator.get(b)
	// Compiles as in production.
	srv := zkserver.Start(b, zkserver.WithJVMFlags("-XX:TieredStopAtLevel=4"))
	handOver := []locks.MutexOption{locks.WithLocalHandOver(1000, time.Second)}
	for _, s := range []struct {
		name string
		crowd
	}{
		{"uncontended", crowd{processes: 1, clients: 1, paths: 1, members: 1, cycles: 50}},
		{"64-paths", crowd{processes: 1, clients: 1, paths: 64, members: 64, cycles: 5}},
		{"64-paths-4-clients", crowd{processes: 1, clients: 4, paths: 64, members: 64, cycles: 5}},
		{"8-processes", crowd{processes: 8, clients: 1, paths: 1, members: 1, cycles: 10}},
		{"8-clients", crowd{processes: 1, clients: 8, paths: 1, members: 8, cycles: 10}},
		{"64-on-one-object", crowd{processes: 1, clients: 1, paths: 1, members: 64, cycles: 1}},
		{"64-on-one-object-hand-over", crowd{
			processes: 1, clients: 1, paths: 1, members: 64, cycles: 1, opts: handOver,
		}},
		{"64-with-an-object-each", crowd{
			processes: 1, clients: 1, paths: 1, members: 64, cycles: 1, apart: true,
		}},
		{"500-on-one-object", crowd{processes: 1, clients: 1, paths: 1, members: 500, cycles: 1}},
		{"500-with-an-object-each", crowd{
			processes: 1, clients: 1, paths: 1, members: 500, cycles: 1, apart: true,
		}},
	} {
		b.Run(s.name, func(b *testing.B) { compare(b, srv.Addr(), s.crowd) })
	}
}

// crowd is the set of goroutines or threads that compete for mutexes in a
// scenario. Each member belongs to a client and a path, in turn. All members
// with the same client and path share a mutex, or with apart have one each.
type crowd struct {
	processes int // each has all that follows
	clients   int // each with its own connection
	paths     int
	members   int // goroutines or threads
	apart     bool
	cycles    int                 // of each member in each round
	opts      []locks.MutexOption // on our side; Curator has nothing like them
}

// round lets every member of a crowd do its cycles, and returns how long that
// took.
type round func() (time.Duration, error)

// must runs a round, and fails the benchmark on an error.
func (r round) must(b testing.TB) time.Duration {
	b.Helper()
	took, err := r()
	require.NoError(b, err)
	return took
}

func compare(b *testing.B, addr string, who crowd) {
	meter := startMeter(b, addr) // before the clients, to end after them
	ours, curators := goRounds(b, addr, who), javaRounds(b, addr, who)
	// Several processes compile as slowly as one, with a fraction of the CPU
	// each.
	for warm := time.Now(); time.Since(warm) < *warmUp*time.Duration(who.processes); {
		ours.must(b)
		curators.must(b)
	}
	var ourTimes, curatorTimes []float64
	for b.Loop() {
		our, curator := ours.must(b), curators.must(b)
		ourTimes = append(ourTimes, who.perCycle(our))
		curatorTimes = append(curatorTimes, who.perCycle(curator))
	}
	b.ReportMetric(0, "ns/op") // of a pair, which means nothing
	reportRatios(b, "x-curator", curatorTimes, ourTimes)
	b.ReportMetric(median(ourTimes), "our-ns") // sorts them
	b.ReportMetric(median(curatorTimes), "curator-ns")
	meter.report(b, who, "our", goRounds(b, meter.addr(), who))
	meter.report(b, who, "curator", javaRounds(b, meter.addr(), who))
}

var warmUp = flag.Duration("warm", 10*time.Second,
	"how long each Java process of a benchmark has to compile before it is measured")

// perCycle returns the time of one acquire and release in nanoseconds.
func (who crowd) perCycle(round time.Duration) float64 {
	return float64(round.Nanoseconds()) / float64(who.allCycles())
}

// allCycles returns the number of cycles in a round.
func (who crowd) allCycles() int { return who.processes * who.members * who.cycles }

// median sorts the numbers. Of an even count it is the mean of the two in the middle.
func median(numbers []float64) float64 {
	slices.Sort(numbers)
	n := len(numbers)
	return (numbers[(n-1)/2] + numbers[n/2]) / 2
}

// report reports the requests and bytes of a round for one acquire and release.
func (m *meter) report(b *testing.B, who crowd, name string, round round) {
	requests, bytes := m.cost(b, round)
	b.ReportMetric(float64(requests)/float64(who.allCycles()), name+"-reqs")
	b.ReportMetric(float64(bytes)/float64(who.allCycles()), name+"-B")
}

// cost returns the requests and bytes of a round. The crowd of the round must
// be connected through the meter.
func (m *meter) cost(t testing.TB, round round) (requests, bytes int) {
	t.Helper()
	requests, bytes, err := m.tryCost(round)
	require.NoError(t, err)
	return requests, bytes
}

func (m *meter) tryCost(round round) (requests, bytes int, err error) {
	if _, err := round(); err != nil { // makes connections and paths
		return 0, 0, err
	}
	requests, bytes = m.counted()
	_, err = round()
	allRequests, allBytes := m.counted()
	return allRequests - requests, allBytes - bytes, err
}

func goPath(i int) string { return fmt.Sprint("/bench/go-", i) }

// goRounds returns the rounds of a crowd of goroutines.
func goRounds(b testing.TB, addr string, who crowd) round {
	if who.processes > 1 {
		return together(repeat(who.processes, func() round { return processRounds(b, addr, who) }))
	}
	mutexes := goMutexes(b, addr, who)
	ctx := b.Context()
	return func() (time.Duration, error) {
		errs := make([]error, len(mutexes))
		start := time.Now()
		var all sync.WaitGroup
		for i, mutex := range mutexes {
			all.Go(func() { errs[i] = cycles(ctx, mutex, who.cycles) })
		}
		all.Wait()
		return time.Since(start), errors.Join(errs...)
	}
}

// goMutexes returns the mutex of each member.
func goMutexes(b testing.TB, addr string, who crowd) []*locks.InterProcessMutex {
	clients := repeat(who.clients, func() *framework.Client {
		c, err := framework.New(addr, framework.WithSessionTimeout(longSession))
		require.NoError(b, err)
		b.Cleanup(func() { c.Close() })
		return c
	})
	var mutexes []*locks.InterProcessMutex
	shared := map[[2]int]*locks.InterProcessMutex{}
	for i := range who.members {
		c, p := i%who.clients, i%who.paths
		if shared[[2]int{c, p}] == nil || who.apart {
			shared[[2]int{c, p}] = locks.NewInterProcessMutex(clients[c], goPath(p), who.opts...)
		}
		mutexes = append(mutexes, shared[[2]int{c, p}])
	}
	return mutexes
}

func repeat[T any](n int, make func() T) []T {
	var all []T
	for range n {
		all = append(all, make())
	}
	return all
}

// cycles acquires and releases n times.
func cycles(ctx context.Context, mutex *locks.InterProcessMutex, n int) error {
	for range n {
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return err
		}
		if err := lease.Release(ctx); err != nil {
			return err
		}
	}
	return nil
}

// javaRounds returns the rounds of a crowd of threads, in processes that compile
// as in production.
func javaRounds(b testing.TB, addr string, who crowd) round {
	if who.processes > 1 {
		one := who
		one.processes = 1
		return together(repeat(who.processes, func() round { return javaRounds(b, addr, one) }))
	}
	return peerRounds(b, startProcessWith(b, nil, addr, longSession), who)
}

// peerRounds returns the rounds of a crowd of threads of one peer.
func peerRounds(b testing.TB, java *peer, who crowd) round {
	objects := "shared"
	if who.apart {
		objects = "apart"
	}
	return func() (time.Duration, error) {
		// On a slow machine, 500 threads on one object of Curator take minutes.
		ctx, cancel := context.WithTimeout(b.Context(), 6*time.Minute)
		defer cancel()
		words, err := java.ask(ctx, "bench", "/bench/java",
			who.clients, who.paths, who.members, objects, who.cycles)
		if err != nil {
			return 0, err
		}
		return time.ParseDuration(words[0] + "ns")
	}
}
