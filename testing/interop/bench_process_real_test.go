//go:build real

package interop_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/locks"
)

// envBench turns the test program into a process with the clients of one library:
// see serveBench. So the CPU, the garbage and the heap of two libraries are apart.
const envBench = "INTEROP_BENCH"

// goProgram returns the command of that process. The library is "our" or "zk.Lock".
func goProgram(library, addr string, w benchLoad) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s %d %d %d %d",
		envBench, library, addr, w.kind, w.clients, w.paths, w.members, w.times))
	return cmd
}

// benchLoad is what one process does in each round. Each member is a goroutine, and
// belongs to a client and a path, in turn.
type benchLoad struct {
	kind                    string // cycles, hand-over or add
	clients, paths, members int
	times                   int // of each member; of all, if they hand over
}

// ops returns the number of operations in a round.
func (w benchLoad) ops() int {
	if w.kind == kindHandOver {
		return w.times
	}
	return w.members * w.times
}

// acquires returns how often a round acquires or adds. A round of hand-overs begins
// with one acquire that does not wait.
func (w benchLoad) acquires() int {
	if w.kind == kindHandOver {
		return w.times + 1
	}
	return w.ops()
}

const (
	kindCycles   = "cycles"    // each member acquires and releases
	kindHandOver = "hand-over" // the members pass one lock on
	kindAdd      = "add"       // each member adds to one counter
)

// cost is what a round has cost the process.
type cost struct {
	took, cpu     time.Duration
	allocs, bytes uint64
	p99           time.Duration // of single additions; 0 for other workloads
}

// serveBench answers each line, a number and a word, with the cost of a round. It
// ends with stdin. The peers in other languages have the same form of answers.
func serveBench(text string) error {
	var library, addr string
	var w benchLoad
	if _, err := fmt.Sscan(text, &library, &addr, &w.kind, &w.clients, &w.paths, &w.members, &w.times); err != nil {
		return err
	}
	run, err := w.rounds(library, addr)
	if err != nil {
		return err
	}
	writeProfiles, err := startProfiles(library)
	if err != nil {
		return err
	}
	defer writeProfiles()
	fmt.Println("0 ok")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		number, _, _ := strings.Cut(lines.Text(), " ")
		c, err := measured(run)
		if err != nil {
			fmt.Println(number, "error", strings.Join(strings.Fields(err.Error()), " "))
			continue
		}
		fmt.Println(number, "ok", c.took.Nanoseconds(), c.cpu.Nanoseconds(), c.allocs, c.bytes, c.p99.Nanoseconds())
	}
	return nil
}

// envProfiles is a directory in which each process writes the profiles of its CPU time
// and of its allocations, in all rounds. GODEBUG=memprofilerate=1 records every allocation.
const envProfiles = "INTEROP_PROFILES"

// startProfiles returns what writes the profiles, if they are wanted.
func startProfiles(library string) (write func(), err error) {
	dir := os.Getenv(envProfiles)
	if dir == "" {
		return func() {}, nil
	}
	name := filepath.Join(dir, fmt.Sprint(library, "-", os.Getpid()))
	cpu, err := os.Create(name + ".cpu")
	if err != nil {
		return nil, err
	}
	allocs, err := os.Create(name + ".allocs")
	if err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		pprof.Lookup("allocs").WriteTo(allocs, 0)
	}, pprof.StartCPUProfile(cpu)
}

// timedRound returns the time of a round, and the time of each addition in it.
type timedRound func() (took time.Duration, each []time.Duration, err error)

func measured(run timedRound) (cost, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, err := cpuTime()
	if err != nil {
		return cost{}, err
	}
	took, each, err := run()
	if err != nil {
		return cost{}, err
	}
	end, err := cpuTime()
	runtime.ReadMemStats(&after)
	c := cost{took: took, cpu: end - start}
	c.allocs, c.bytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	if len(each) > 0 {
		slices.Sort(each)
		c.p99 = each[len(each)*99/100]
	}
	return c, err
}

func (w benchLoad) rounds(library, addr string) (timedRound, error) {
	if w.kind == kindAdd {
		return w.additions(library, addr)
	}
	all, err := w.lockers(library, addr)
	round := handOvers(all, w.times, settles)
	if w.kind == kindCycles {
		round = cycling(all, w.times)
	}
	return func() (time.Duration, []time.Duration, error) {
		took, err := round()
		return took, nil, err
	}, err
}

// settles is how long a waiter has before the holder releases: it has set its
// watches then, also at a distance.
const settles = 20 * time.Millisecond

// lockers returns the lock of each member. Ours share one where they share client
// and path. Each member has a zk.Lock, because goroutines cannot share one.
func (w benchLoad) lockers(library, addr string) ([]holds, error) {
	ctx := context.Background()
	path := func(i int) string { return fmt.Sprint("/bench/", library, "-", i%w.paths) }
	var all []holds
	if library == zkLockName {
		conns, err := zkConns(addr, w.clients)
		for i := 0; i < w.members && err == nil; i++ {
			all = append(all, zkLocker(zk.NewLock(conns[i%w.clients], path(i), zk.WorldACL(zk.PermAll))))
		}
		return all, err
	}
	clients, err := ourClients(addr, w.clients)
	if err != nil {
		return nil, err
	}
	shared := map[[2]int]*locks.InterProcessMutex{}
	for i := range w.members {
		key := [2]int{i % w.clients, i % w.paths}
		if shared[key] == nil {
			shared[key] = locks.NewInterProcessMutex(clients[i%w.clients], path(i))
		}
		all = append(all, locker(ctx, shared[key]))
	}
	return all, nil
}

const zkLockName = "zk.Lock"

// ourClients returns clients that end with the process.
func ourClients(addr string, n int) (all []*framework.Client, err error) {
	for i := 0; i < n && err == nil; i++ {
		var c *framework.Client
		c, err = framework.New(addr, framework.WithSessionTimeout(longSession))
		all = append(all, c)
	}
	return all, err
}

func zkConns(addr string, n int) (all []*zk.Conn, err error) {
	for i := 0; i < n && err == nil; i++ {
		var conn *zk.Conn
		conn, _, err = zk.Connect([]string{addr}, longSession, zk.WithLogInfo(false))
		all = append(all, conn)
	}
	return all, err
}

const counterPath = "/bench-counter"

// additions returns rounds in which each client adds to one counter. The peer is a
// loop with go-zookeeper that reads, and sets the node if it has not changed since.
func (w benchLoad) additions(library, addr string) (timedRound, error) {
	ctx := context.Background()
	var adds []func() error
	if library == zkLockName {
		conns, err := zkConns(addr, w.clients)
		if err != nil {
			return nil, err
		}
		_, err = conns[0].Create(counterPath, []byte("0"), 0, zk.WorldACL(zk.PermAll))
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return nil, err
		}
		for _, conn := range conns {
			adds = append(adds, func() error { return compareAndSet(conn) })
		}
	} else {
		clients, err := ourClients(addr, w.clients)
		if err != nil {
			return nil, err
		}
		for _, c := range clients {
			n := atomic.NewLong(c, "/bench/counter")
			adds = append(adds, func() error { _, err := n.Add(ctx, 1); return err })
		}
	}
	return func() (time.Duration, []time.Duration, error) { return w.add(adds) }, nil
}

func compareAndSet(conn *zk.Conn) error {
	for {
		data, stat, err := conn.Get(counterPath)
		if err != nil {
			return err
		}
		var n int64
		if _, err := fmt.Sscan(string(data), &n); err != nil {
			return err
		}
		if _, err := conn.Set(counterPath, fmt.Append(nil, n+1), stat.Version); !errors.Is(err, zk.ErrBadVersion) {
			return err
		}
	}
}

func (w benchLoad) add(adds []func() error) (time.Duration, []time.Duration, error) {
	var mu sync.Mutex
	var each []time.Duration
	var members []func() error
	for i := range w.members {
		members = append(members, func() error {
			own := make([]time.Duration, 0, w.times)
			for range w.times {
				start := time.Now()
				if err := adds[i%w.clients](); err != nil {
					return err
				}
				own = append(own, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			each = append(each, own...)
			return nil
		})
	}
	took, err := atOnce(members...)()
	return took, each, err
}
