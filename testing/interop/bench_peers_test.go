package interop_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/kazootest"
	"github.com/gocurator/curator/testing/zkserver"
)

// BenchmarkPeers has scenarios for recipes of this library, and for those of other
// libraries. In each round all libraries that have the recipe do the same, one
// after the other: ours, go-zookeeper's zk.Lock, Java Curator and Python's kazoo on
// the same ZooKeeper server, the package concurrency of etcd on etcd, and
// rueidislock on Redis. No server syncs what it writes to a disk. The metrics are:
//
//   - our-ns, curator-ns and so on: the median of the rounds, for one acquire and
//     release, or what else bench_scenarios_test.go says.
//   - x-curator and so on: the other's time divided by ours, the median. Above 1
//     we are faster. Of the ratios, the second lowest of ten rounds is
//     x-curator-from, and the second highest is x-curator-to.
//   - our-reqs, curator-reqs and so on: the requests to ZooKeeper, counted apart
//     from the time, through a relay.
//
// A library that is not installed is left out, and so is one from a scenario in
// which it has an error. A line says so.
func BenchmarkPeers(b *testing.B) {
	srv := zkserver.Start(b, zkserver.WithJVMFlags("-XX:TieredStopAtLevel=4"))
	meter := startMeter(b, srv.Addr()) // before the clients, to end after them
	peers := startPeers(b, srv.Addr(), meter.addr())
	// Java compiles the client, and the server's JVM its code. Each scenario has a
	// time of its own to warm up, but all libraries share that.
	warm := peers.timed["curator"].rounds(b, "one", "/bench/warm", 100)
	for start := time.Now(); time.Since(start) < 4**warmUp; {
		warm.must(b)
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
		program, err := programs[name](b, addr)
		if err != nil {
			tellLeftOut(name, err)
			continue
		}
		p.timed[name] = startProgram(b, program(addr, longSession))
		if name == "curator" || name == "kazoo" {
			p.metered[name] = startProgram(b, program(metered, longSession))
		}
	}
	return p
}

// tellLeftOut writes the line for the results.
func tellLeftOut(name string, err error) {
	fmt.Printf("left out: %s: %s\n", name, strings.Join(strings.Fields(err.Error()), " "))
}

// program returns the command of a peer. The address is that of ZooKeeper, and is
// not used for others.
type program func(addr string, session time.Duration) *exec.Cmd

// programs find the peers, and start the servers that they need.
var programs = map[string]func(b *testing.B, addr string) (program, error){
	"curator": func(b *testing.B, _ string) (program, error) {
		java := javaCurator.get(b)
		return func(addr string, session time.Duration) *exec.Cmd {
			return java.command(nil, addr, millis(session))
		}, nil
	},
	"kazoo": func(*testing.B, string) (program, error) {
		var missing withoutKazoo
		python := kazootest.Python(&missing)
		return func(addr string, session time.Duration) *exec.Cmd {
			return exec.Command(python, filepath.Join("python", "scenarios.py"), addr, millis(session))
		}, missing.err
	},
	"etcd": func(b *testing.B, _ string) (program, error) {
		return otherServer(b, "etcd", "etcd", func(addr, dir string) []string {
			client, peers := "http://"+addr, "http://"+freeAddress(b)
			return []string{
				"--data-dir", dir, "--log-level", "error", "--logger", "zap",
				"--listen-client-urls", client, "--advertise-client-urls", client,
				"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default=" + peers,
			}
		})
	},
	"redis": func(b *testing.B, _ string) (program, error) {
		return otherServer(b, "redis", "redis-server", func(addr, dir string) []string {
			host, port, err := net.SplitHostPort(addr)
			require.NoError(b, err)
			return []string{"--bind", host, "--port", port, "--dir", dir, "--save", "", "--appendonly", "no"}
		})
	},
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// withoutKazoo remembers why kazoo is not there, and skips nothing.
type withoutKazoo struct{ err error }

func (*withoutKazoo) Helper()            {}
func (w *withoutKazoo) Skip(args ...any) { w.err = errors.New(fmt.Sprint(args...)) }
func (w *withoutKazoo) Fatal(a ...any)   { w.Skip(a...) }

// otherServer starts a server that is not ZooKeeper, and returns the peer of it. Its
// files are in memory, if the system has a directory for that: ZooKeeper's are
// written, but not synced.
func otherServer(b *testing.B, name, server string, args func(addr, dir string) []string) (program, error) {
	if _, err := exec.LookPath(server); err != nil {
		return nil, err
	}
	peer := filepath.Join(b.TempDir(), "peers")
	build := exec.Command("go", "build", "-o", peer, ".")
	build.Dir, build.Env = filepath.Join("..", "..", "internal", "benchmarks", "peers"), append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	addr := freeAddress(b)
	cmd := exec.Command(server, args(addr, memoryDir(b))...)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait() // says that it was killed
	})
	require.Eventually(b, func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	}, waitLimit, 50*time.Millisecond, server)
	return func(_ string, session time.Duration) *exec.Cmd {
		return exec.Command(peer, name, addr, millis(session))
	}, nil
}

func freeAddress(b *testing.B) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer listener.Close()
	return listener.Addr().String()
}

func memoryDir(b *testing.B) string {
	dir, err := os.MkdirTemp("/dev/shm", "curator-bench-")
	if err != nil {
		return b.TempDir()
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
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
}

// run runs a round, unless the contestant is left out.
func (c *contestant) run() {
	if c.err != nil {
		return
	}
	took, err := c.timed()
	c.times, c.err = append(c.times, float64(took.Nanoseconds())/float64(c.ops)), err
}

func (c *contestant) count(m *meter) {
	if c.err == nil && c.metered != nil {
		c.requests, _, c.err = m.tryCost(c.metered)
	}
}

func (s scenario) contestants(b *testing.B, addr, metered string, p peers) []*contestant {
	all := []*contestant{{
		name: "our", timed: s.ours(b, addr), metered: s.ours(b, metered), ops: cmp.Or(s.ourOps, s.ops),
	}}
	if s.zkLock != nil {
		all = append(all, &contestant{name: "zk.Lock", timed: s.zkLock(b, addr), metered: s.zkLock(b, metered), ops: s.ops})
	}
	for _, name := range peerNames {
		if p.timed[name] == nil || !slices.Contains(s.peers, name) {
			continue
		}
		path := s.path(name)
		c := &contestant{name: name, timed: p.timed[name].rounds(b, s.command, path, s.times), ops: s.ops}
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
	for b.Loop() {
		for _, c := range all {
			c.run()
		}
	}
	b.ReportMetric(0, "ns/op") // of a round of all, which means nothing
	for _, c := range all {
		c.count(meter)
	}
	require.NoError(b, all[0].err)
	for _, c := range all {
		if c.err != nil {
			tellLeftOut(c.name+" of "+s.name, c.err)
			if errors.Is(c.err, context.DeadlineExceeded) {
				delete(p.timed, c.name) // each other scenario would wait as long
			}
			continue
		}
		b.ReportMetric(median(slices.Clone(c.times)), c.name+"-ns")
		if c != all[0] {
			reportRatios(b, "x-"+c.name, c.times, all[0].times)
		}
		if c.metered != nil {
			b.ReportMetric(float64(c.requests)/float64(c.ops), c.name+"-reqs")
		}
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
