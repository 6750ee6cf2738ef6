//go:build real

package interop_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/zktest"
)

// BenchmarkSpeed compares locks and a counter with go-zookeeper's zk.Lock and Java
// Curator, on one server that does not sync to a disk. In each row each library
// runs in its own process, and in each round the libraries run in turn. A proxy
// delays requests, answers and events. The metrics are:
//
//   - rate/zk.Lock, rate/Curator, rate/CAS: our rate divided by theirs, the median
//     of the rounds. With -from and -to, the lowest and the highest of fewer than
//     ten rounds. For hand-overs it is our time divided by theirs: time/zk.Lock.
//   - cpu/zk.Lock: the user and system time of our process divided by theirs.
//   - p99/CAS: of single additions, our 99th percentile divided by theirs.
//   - our-ns, our-cpu-ns, our-allocs and our-B (allocated), and the same of others:
//     of an operation, the median.
//   - our-reqs and zk.Lock-reqs: the requests of an operation, as the relay counts
//     them: without a delay in rounds that are not timed. A hand-over includes the
//     acquire of the next waiter. The load of the machine changes them hardly, and
//     not at all where each goroutine has its own lock.
//
// An operation is an acquire and release, a hand-over or an addition.
func BenchmarkSpeed(b *testing.B) {
	javaCurator.get(b)
	srv := zkserver.Start(b, zkserver.WithJVMFlags("-XX:TieredStopAtLevel=4"))
	for _, d := range []struct {
		name  string
		delay time.Duration // each way
		fewer int           // rounds of distant clients have fewer operations
	}{{"loopback", 0, 1}, {"0.2ms", 200 * time.Microsecond, 2}, {"1ms", time.Millisecond, 4}} {
		for _, r := range speedRows {
			if d.delay > 0 && !r.distant {
				continue
			}
			name := d.name + "/" + r.name
			switch r.kind {
			case kindHandOver:
				name = kindHandOver + "/" + r.name + "-" + d.name
			case kindAdd:
				name = r.name
			default:
				r.times /= d.fewer
			}
			b.Run(name, func(b *testing.B) { r.compare(b, srv.Addr(), d.delay) })
		}
	}
}

// speedRow is a row of the table.
type speedRow struct {
	name string
	benchLoad
	distant, curator bool // also measured at a distance, and with Curator
}

var speedRows = []speedRow{
	{"one-worker", benchLoad{kindCycles, 1, 1, 1, 200}, true, true},
	{"64-locks", benchLoad{kindCycles, 1, 64, 64, 20}, false, true},
	{"64-locks-of-4-clients", benchLoad{kindCycles, 4, 64, 64, 20}, false, true},
	{"8-sessions", benchLoad{kindCycles, 8, 1, 8, 40}, true, true},
	{"64-goroutines", benchLoad{kindCycles, 1, 1, 64, 20}, true, true},
	{"of-2", benchLoad{kindHandOver, 2, 1, 2, 24}, true, true},
	{"of-3", benchLoad{kindHandOver, 3, 1, 3, 24}, true, false},
	{"counter/1-session", benchLoad{kindAdd, 1, 1, 1, 400}, false, true},
	{"counter/8-sessions", benchLoad{kindAdd, 8, 1, 8, 100}, false, true},
}

// runner is a library in a row.
type runner struct {
	name          string
	relay         *meter
	ops, acquires int // in a round
	run           func(context.Context) ([]string, error)
	costs         [len(costNames)][]float64 // of an operation, in each round
}

// costNames are in the order in which a process in Go answers. Java's answers only
// have the time. The last is counted here.
var costNames = [...]string{"ns", "cpu-ns", "allocs", "B", "p99-ns", "reqs"}

// These are indices of costs.
const (
	timeCost    = 0
	cpuCost     = 1
	tailCost    = 4
	requestCost = 5
)

func (r *runner) round(b *testing.B) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
	defer cancel()
	before, _ := r.relay.counted()
	words, err := r.run(ctx)
	require.NoError(b, err, r.name)
	after, _ := r.relay.counted()
	for i, word := range words {
		value, err := strconv.ParseFloat(word, 64)
		require.NoError(b, err, r.name)
		if i != tailCost {
			value /= float64(r.ops)
		}
		r.costs[i] = append(r.costs[i], value)
	}
	r.costs[requestCost] = append(r.costs[requestCost], float64(after-before)/float64(r.acquires))
}

func (r speedRow) inGo(b *testing.B, library, addr string, relay *meter) *runner {
	p := startProgram(b, goProgram(library, addr, r.benchLoad))
	name := library
	if r.kind == kindAdd && library == zkLockName {
		name = "CAS"
	}
	ask := func(ctx context.Context) ([]string, error) { return p.ask(ctx, "round") }
	return &runner{name: name, relay: relay, ops: r.ops(), acquires: r.acquires(), run: ask}
}

// inJava returns threads with an object each: many that share one object of
// Curator are slower by far.
func (r speedRow) inJava(b *testing.B, addr string, relay *meter) *runner {
	p := startProcessWith(b, nil, addr, longSession)
	one := &runner{name: "Curator", relay: relay, ops: r.ops(), acquires: r.acquires()}
	command := []any{"bench", "/bench/java", r.clients, r.paths, r.members, "apart", r.times}
	switch r.kind {
	case kindAdd: // its threads share a client and a number, which combines nothing
		command = []any{"atomic-count", "long", "/bench/java-counter", r.members, r.times}
	case kindHandOver:
		one.ops, one.acquires = javaHandOvers, javaHandOvers+1
		command = []any{"scenario", kindHandOver, "/bench/java-hand-over", javaHandOvers}
	}
	one.run = func(ctx context.Context) ([]string, error) { return p.ask(ctx, command...) }
	return one
}

// javaHandOvers is how many a round has. Java lets a waiter settle for 150 ms.
const javaHandOvers = 5

func (r speedRow) compare(b *testing.B, addr string, delay time.Duration) {
	relay := startDelayed(b, addr, delay) // before the clients, to end after them
	through := relay.addr()
	if delay > 0 {
		addr = through
	}
	all := []*runner{r.inGo(b, "our", addr, relay), r.inGo(b, zkLockName, addr, relay)}
	if r.curator {
		all = append(all, r.inJava(b, addr, relay))
	}
	warm := time.Now()
	for n := 0; n < 2 || time.Since(warm) < *warmUp; n++ { // the first makes connections and paths
		runInTurn(b, all, n)
	}
	for _, one := range all {
		clear(one.costs[:])
	}
	for n := 0; b.Loop(); n++ {
		runInTurn(b, all, n)
	}
	b.ReportMetric(0, "ns/op") // of a round of all, which means nothing
	for _, one := range all[1:] {
		r.reportRatios(b, all[0], one)
	}
	if delay == 0 {
		r.countApart(b, all, through, relay)
	}
	for _, one := range all {
		r.reportCosts(b, one)
	}
}

// runInTurn runs a round of each. Each is the first in turn.
func runInTurn(b *testing.B, all []*runner, n int) {
	b.Helper()
	for i := range all {
		all[(n+i)%len(all)].round(b)
	}
}

// countApart counts the requests of those in Go in three rounds through the relay.
// Curator's are in the rows at a distance.
func (r speedRow) countApart(b *testing.B, all []*runner, addr string, relay *meter) {
	for i, library := range []string{"our", zkLockName} {
		one := r.inGo(b, library, addr, relay)
		one.round(b) // makes connections and paths
		clear(one.costs[:])
		for range 3 {
			one.round(b)
		}
		all[i].costs[requestCost] = one.costs[requestCost]
	}
	for _, java := range all[2:] {
		java.costs[requestCost] = nil
	}
}

func (r speedRow) reportRatios(b *testing.B, our, other *runner) {
	if r.kind == kindHandOver { // its CPU includes 20 ms of waiting
		reportRatios(b, "time/"+other.name, our.costs[timeCost], other.costs[timeCost])
		return
	}
	reportRatios(b, "rate/"+other.name, other.costs[timeCost], our.costs[timeCost])
	if len(other.costs[cpuCost]) > 0 {
		reportRatios(b, "cpu/"+other.name, our.costs[cpuCost], other.costs[cpuCost])
	}
	if len(other.costs[tailCost]) > 0 && r.kind == kindAdd {
		reportRatios(b, "p99/"+other.name, our.costs[tailCost], other.costs[tailCost])
	}
}

func (r speedRow) reportCosts(b *testing.B, one *runner) {
	for i, costs := range one.costs {
		switch {
		case len(costs) == 0, i == tailCost && r.kind != kindAdd, i == cpuCost && r.kind == kindHandOver:
		default:
			b.ReportMetric(median(slices.Clone(costs)), one.name+"-"+costNames[i])
		}
	}
}

// Each kind of workload does in each library what it says, and leaves no lock held.
func TestProcessesOfBenchmarks(t *testing.T) {
	t.Parallel()
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	for _, library := range []string{"our", zkLockName} {
		for _, w := range []benchLoad{
			{kindCycles, 2, 2, 4, 3}, {kindHandOver, 2, 1, 2, 3}, {kindHandOver, 3, 1, 3, 5}, {kindAdd, 2, 1, 2, 5},
		} {
			p := startProgram(t, goProgram(library, srv.Addr(), w))
			for range 2 {
				before := srv.CountRequests(zktest.OpDelete)
				words := p.must(t, "round")
				require.Len(t, words, len(costNames)-1)
				if w.kind != kindAdd { // each acquire creates a node, and its release deletes it
					require.Equal(t, w.acquires(), srv.CountRequests(zktest.OpDelete)-before, "%s: %v", library, w)
				}
			}
		}
	}
	c := benchClient(t, srv.Addr())
	value, _, err := c.Get(t.Context(), counterPath)
	require.NoError(t, err)
	require.Equal(t, "20", string(value))
	n, err := atomic.NewLong(c, "/bench/counter").Load(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 20, n)
}

// A relay with a delay delays requests and answers, and keeps their order.
func TestRelayDelaysBothDirections(t *testing.T) {
	t.Parallel()
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	relay := startDelayed(t, srv.Addr(), 20*time.Millisecond)
	c := benchClient(t, relay.addr())
	require.NoError(t, c.WaitConnected(t.Context()))
	start := time.Now()
	_, err := c.Create(t.Context(), "/delayed", nil)
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(start), 2*relay.delay)
}
