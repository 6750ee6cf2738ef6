//go:build real

package interop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkserver"
)

// BenchmarkPeers has scenarios for recipes of this library, and for recipes of other
// libraries. In each round all libraries that have the recipe do the same, one
// after the other: ours, Java Curator and Python's kazoo on the same ZooKeeper
// server, the package concurrency of etcd on etcd, and rueidislock on Redis. No
// server syncs what it writes to a disk. BenchmarkSpeed has zk.Lock, and more of
// Curator's locks. The metrics are:
//
//   - our-ns, curator-ns and so on: the median of the rounds, for one acquire and
//     release, or what else bench_scenarios_real_test.go says.
//   - x-curator and so on: the other's time divided by ours, the median. Above 1
//     we are faster. Of the ratios, the second lowest of ten rounds is
//     x-curator-from, and the second highest is x-curator-to.
//   - our-reqs, curator-reqs and so on: the requests to ZooKeeper, counted apart
//     from the time, through a relay.
//
// A library that is not installed is left out, or does not start, and so is one
// from a scenario in which it has an error. A line says so. Java Curator must be
// there.
func BenchmarkPeers(b *testing.B) {
	srv := zkserver.Start(b, zkserver.WithJVMFlags("-XX:TieredStopAtLevel=4"))
	meter := startMeter(b, srv.Addr()) // before the clients, to end after them
	peers := startPeers(b, srv.Addr(), meter.addr())
	// Java compiles the client, and the server's JVM its code. Each scenario has a
	// extra time to warm up, but all libraries share that.
	if java := peers.timed["curator"]; java != nil {
		warm := java.rounds(b, "one", "/bench/warm", 100)
		var err error // the scenarios have it, too
		for start := time.Now(); err == nil && time.Since(start) < 4**warmUp; {
			_, err = warm()
		}
	}
	for _, s := range scenarios {
		b.Run(s.name, func(b *testing.B) { s.compare(b, srv.Addr(), meter, peers) })
	}
}

// peers are the programs with other libraries, by the library's name. What is not
// installed is not there.
type peers struct {
	timed   map[string]*peer
	metered map[string]*peer // connected through a meter
}

// peerNames are in the order of the columns.
var peerNames = []string{"curator", "kazoo", "etcd", "redis"}

func startPeers(b *testing.B, addr, metered string) peers {
	p := peers{timed: map[string]*peer{}, metered: map[string]*peer{}}
	for _, name := range peerNames {
		if err := p.start(b, name, addr, metered); err != nil {
			tellLeftOut(name, err)
		}
	}
	return p
}

func (p peers) start(b *testing.B, name, addr, metered string) error {
	program, err := programs[name](b, addr)
	if err != nil {
		return err
	}
	timed, err := tryProgram(b, program(addr, longSession))
	if err != nil {
		return err
	}
	if name == "curator" || name == "kazoo" {
		if p.metered[name], err = tryProgram(b, program(metered, longSession)); err != nil {
			delete(p.metered, name)
			return err
		}
	}
	p.timed[name] = timed
	return nil
}

// leaveOut ends the programs of a library: one that does not answer would not end
// by itself either.
func (p peers) leaveOut(name string) {
	for _, of := range []map[string]*peer{p.timed, p.metered} {
		if of[name] != nil {
			of[name].kill()
			delete(of, name)
		}
	}
}

// tellLeftOut writes the line for the results.
func tellLeftOut(name string, err error) {
	fmt.Printf("left out: %s: %s\n", name, strings.Join(strings.Fields(err.Error()), " "))
}

// rounds returns the rounds of a scenario in a program.
func (p *peer) rounds(b testing.TB, scenario, path string, times int) round {
	return func() (time.Duration, error) {
		ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
		defer cancel()
		words, err := p.ask(ctx, "scenario", scenario, path, times)
		if err != nil {
			return 0, err
		}
		return time.ParseDuration(words[0] + "ns")
	}
}

// contestant is a library in a scenario.
type contestant struct {
	name           string
	timed, metered round // metered is nil if nobody counts requests
	ops            int
	times          []float64 // of an operation, in each round
	requests       int       // of a round, if metered is not nil
	err            error     // the first; it leaves the library out of the scenario
	leaveOut       func()    // out of all scenarios
}

// run runs a round, unless the contestant is left out.
func (c *contestant) run() {
	if c.err != nil {
		return
	}
	took, err := c.timed()
	c.times = append(c.times, float64(took.Nanoseconds())/float64(c.ops))
	c.fail(err)
}

// fail leaves out, if there is an error. Where a library does not answer in time,
// each other scenario would wait as long.
func (c *contestant) fail(err error) {
	c.err = err
	if c.leaveOut != nil && errors.Is(err, context.DeadlineExceeded) {
		c.leaveOut()
	}
}

func (c *contestant) count(m *meter) {
	if c.err == nil && c.metered != nil {
		requests, _, err := m.tryCost(c.metered)
		c.requests = requests
		c.fail(err)
	}
}

func (s scenario) contestants(b *testing.B, addr, metered string, p peers) []*contestant {
	all := []*contestant{{
		name: "our", timed: s.ours(b, addr), metered: s.ours(b, metered), ops: s.ops,
	}}
	for _, name := range peerNames {
		if p.timed[name] == nil || !slices.Contains(s.peers, name) {
			continue
		}
		path := s.path(name)
		c := &contestant{name: name, timed: p.timed[name].rounds(b, s.command, path, s.times), ops: s.ops}
		c.leaveOut = func() { p.leaveOut(name) }
		if through := p.metered[name]; through != nil {
			c.metered = through.rounds(b, s.command, path, s.times)
		}
		all = append(all, c)
	}
	return all
}

func (s scenario) compare(b *testing.B, addr string, meter *meter, p peers) {
	all := s.contestants(b, addr, meter.addr(), p)
	// Each has two rounds at least: the first makes connections and paths.
	for warm, n := time.Now(), 0; n < 2 || time.Since(warm) < *warmUp; n++ {
		for _, c := range all {
			c.run()
		}
	}
	for _, c := range all {
		c.times = nil
	}
	for n := 0; b.Loop(); n++ {
		for i := range all { // each is the first in turn
			all[(n+i)%len(all)].run()
		}
	}
	b.ReportMetric(0, "ns/op") // of a round of all, which means nothing
	for _, c := range all {
		c.count(meter)
	}
	require.NoError(b, all[0].err)
	compared := 0
	for _, c := range all {
		if c.err != nil {
			tellLeftOut(c.name+" of "+s.name, c.err)
			continue
		}
		b.ReportMetric(median(slices.Clone(c.times)), c.name+"-ns")
		if c != all[0] {
			reportRatios(b, "x-"+c.name, c.times, all[0].times)
			compared++
		}
		if c.metered != nil {
			b.ReportMetric(float64(c.requests)/float64(c.ops), c.name+"-reqs")
		}
	}
	if compared == 0 {
		b.Skip("nobody to compare with") // so there is no row
	}
}

// reportRatios reports the median of their times divided by ours, and between which
// ratios most rounds were.
func reportRatios(b *testing.B, name string, theirs, ours []float64) {
	var ratios []float64
	for i := range theirs {
		ratios = append(ratios, theirs[i]/ours[i])
	}
	b.ReportMetric(median(ratios), name) // sorts them
	outliers := len(ratios) / 10
	b.ReportMetric(ratios[outliers], name+"-from")
	b.ReportMetric(ratios[len(ratios)-1-outliers], name+"-to")
}
