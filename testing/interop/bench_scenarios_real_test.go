//go:build real

package interop_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// scenario is what BenchmarkPeers compares. A round has so many operations.
type scenario struct {
	name    string
	command string // what the programs call it
	times   int    // what they get
	ops     int
	ourOps  int // how many ours has, if it has more than the others

	ours, zkLock func(b testing.TB, addr string) round // zkLock is nil if it has no such recipe
	peers        []string
}

// path returns where a library has its nodes. Some scenarios share their nodes.
func (s scenario) path(library string) string {
	if s.command == "participants" {
		return "/bench/candidates"
	}
	return "/bench/" + s.name + "-" + library
}

var (
	everyone           = []string{"curator", "kazoo", "etcd", "redis"}
	clientsOfZooKeeper = []string{"curator", "kazoo"}
	onlyJavas          = []string{"curator"}
)

const (
	// How long a client has queued before the other one releases. etcd looks every
	// 100 ms for watchers like those of its mutex.
	queues      = 150 * time.Millisecond
	crowdQueues = 2 * time.Second // the same for a crowd, or again as long until all are there
)

// These are the scenarios. An operation is an acquire and release, unless it says
// something else:
//
//   - one-worker: a client acquires and releases.
//   - cached: the same with a lock that our client keeps. The others acquire.
//   - 64-paths: 64 goroutines of a client, with a path each.
//   - 8-sessions: eight clients, with one path. (The package of etcd is in
//     8-drained instead: a client that has not queued for 100 ms would wait for
//     the rest of them at each hand-over.)
//   - 8-drained: eight clients wait, which have queued for long. The time is as in
//     500-drained.
//   - hand-over: the time from a client's release until another client, which
//     waits, has the lock.
//   - 500-drained: 500 goroutines, or threads, of one client wait, with an object
//     each. The time is from the release of another client until all have
//     acquired and released, for each of them.
//   - failed-try: a try to acquire what another client holds.
//   - failed-try-same-object: a try to acquire what the same object holds.
//   - read-write: eight clients. One of ten acquires is the writer's. (kazoo 2.8
//     came to no end here.)
//   - semaphore-8-of-64: 64 goroutines, or threads, of eight clients want one of
//     eight leases each.
//   - acquire-4: four leases of a semaphore at once.
//   - participants-of-100: a list of the candidates of a selector, and who they are.
var scenarios = []scenario{
	{name: "one-worker", command: "one", times: 50, ops: 50, ours: cyclesOf(1, 50), zkLock: zkCycles(1, 50), peers: everyone},
	{
		name: "cached", command: "one", times: 50, ops: 50, ourOps: 5000,
		ours: cyclesOf(1, 5000, locks.WithCachedLock(1<<30, time.Hour)), zkLock: zkCycles(1, 50), peers: onlyJavas,
	},
	{name: "64-paths", command: "own", times: 2, ops: 128, ours: ownPaths(64, 2), peers: []string{"etcd", "redis"}},
	{name: "8-sessions", command: "sessions", times: 10, ops: 80, ours: cyclesOf(8, 10), zkLock: zkCycles(8, 10), peers: []string{"curator", "kazoo", "redis"}},
	{name: "8-drained", command: "drain", times: 8, ops: 8, ours: ourDrain(8, 1), peers: []string{"etcd"}},
	{name: "hand-over", command: "hand-over", times: 5, ops: 5, ours: ourHandOvers(5), zkLock: zkHandOvers(5), peers: everyone},
	{name: "500-drained", command: "drain", times: 500, ops: 500, ours: ourDrain(1, 500), zkLock: zkDrain(500), peers: onlyJavas},
	{name: "failed-try", command: "try", times: 50, ops: 50, ours: ourTries(50, false), peers: everyone},
	{name: "failed-try-same-object", command: "try-same", times: 50, ops: 50, ours: ourTries(50, true), peers: onlyJavas},
	{name: "read-write", command: "read-write", times: 20, ops: 160, ours: readAndWrite(20), peers: onlyJavas},
	{name: "semaphore-8-of-64", command: "semaphore", times: 2, ops: 128, ours: semaphore(2), peers: clientsOfZooKeeper},
	{name: "acquire-4", command: "acquire-4", times: 20, ops: 20, ours: leasesOfFour(20), peers: onlyJavas},
	{name: "participants-of-100", command: "participants", times: 10, ops: 10, ours: participants(10), peers: onlyJavas},
}

// ourPath is where our side has its nodes: its scenario is part of the name.
func ourPath(b testing.TB) string { return "/bench/go" + b.Name() }

// holds acquires, and returns what releases.
type holds func() (release func() error, err error)

// locker returns what acquires a lock of ours.
func locker(ctx context.Context, l locks.Locker) holds {
	return func() (func() error, error) {
		lease, err := l.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		return func() error { return lease.Release(ctx) }, nil
	}
}

// zkLocker returns what acquires a lock of go-zookeeper.
func zkLocker(l *zk.Lock) holds {
	return func() (func() error, error) { return l.Unlock, l.Lock() }
}

func (h holds) cycles(n int) error {
	for range n {
		release, err := h()
		if err != nil {
			return err
		}
		if err := release(); err != nil {
			return err
		}
	}
	return nil
}

// atOnce returns rounds in which all run at the same time.
func atOnce(all ...func() error) round {
	return func() (time.Duration, error) {
		errs := make([]error, len(all))
		var running sync.WaitGroup
		start := time.Now()
		for i, run := range all {
			running.Go(func() { errs[i] = run() })
		}
		running.Wait()
		return time.Since(start), errors.Join(errs...)
	}
}

func mutexes(b testing.TB, addr string, clients int, opts ...locks.MutexOption) (all []holds) {
	for range clients {
		all = append(all, locker(b.Context(), locks.NewInterProcessMutex(benchClient(b, addr), ourPath(b), opts...)))
	}
	return all
}

func zkConn(b testing.TB, addr string) *zk.Conn {
	conn, _, err := zk.Connect([]string{addr}, longSession, zk.WithLogInfo(false))
	require.NoError(b, err)
	b.Cleanup(conn.Close)
	return conn
}

func zkLocks(b testing.TB, addr string, clients int) (all []holds) {
	for range clients {
		all = append(all, zkLocker(zk.NewLock(zkConn(b, addr), "/zk.Lock/"+b.Name(), zk.WorldACL(zk.PermAll))))
	}
	return all
}

func cycling(all []holds, n int) round {
	var runs []func() error
	for _, h := range all {
		runs = append(runs, func() error { return h.cycles(n) })
	}
	return atOnce(runs...)
}

func cyclesOf(clients, n int, opts ...locks.MutexOption) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round { return cycling(mutexes(b, addr, clients, opts...), n) }
}

func zkCycles(clients, n int) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round { return cycling(zkLocks(b, addr, clients), n) }
}

func ownPaths(paths, n int) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round {
		c := benchClient(b, addr)
		var all []holds
		for i := range paths {
			all = append(all, locker(b.Context(), locks.NewInterProcessMutex(c, fmt.Sprint(ourPath(b), "-", i))))
		}
		return cycling(all, n)
	}
}

func ourHandOvers(n int) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round { return handOvers(mutexes(b, addr, 2), n, queues) }
}

func zkHandOvers(n int) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round { return handOvers(zkLocks(b, addr, 2), n, queues) }
}

// granted is the end of an acquire.
type granted struct {
	at      time.Time
	release func() error
	err     error
}

// handOvers returns rounds in which all hold in turn, n times after the first. Who
// has released queues again, as the last. All have queued for so long before the
// next release.
func handOvers(all []holds, n int, queued time.Duration) round {
	return func() (sum time.Duration, err error) {
		grants := make([]chan granted, len(all))
		acquire := func(i int) {
			grants[i] = make(chan granted, 1)
			go func() {
				release, err := all[i]()
				grants[i] <- granted{time.Now(), release, err}
			}()
			time.Sleep(queued)
		}
		for i := range all {
			acquire(i)
		}
		got := <-grants[0]
		for i := 0; i < n && got.err == nil; i++ {
			start := time.Now()
			if err := got.release(); err != nil {
				return 0, err
			}
			got = <-grants[(i+1)%len(all)]
			sum += got.at.Sub(start)
			if i+len(all) <= n {
				acquire(i % len(all))
			}
		}
		if got.err != nil {
			return 0, got.err
		}
		return sum, got.release()
	}
}

// ourDrain is for clients with so many objects each. Those of one client queue in
// this process, and have a node or two together.
func ourDrain(clients, objects int) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round {
		var crowd []holds
		for range clients {
			c := benchClient(b, addr)
			crowd = append(crowd, repeat(objects, func() holds { return locker(b.Context(), locks.NewInterProcessMutex(c, ourPath(b))) })...)
		}
		return drain(mutexes(b, addr, 1)[0], crowd, nodesAt(b, addr, ourPath(b), 1+clients))
	}
}

func zkDrain(n int) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round {
		conn := zkConn(b, addr)
		path := "/zk.Lock/" + b.Name()
		crowd := repeat(n, func() holds { return zkLocker(zk.NewLock(conn, path, zk.WorldACL(zk.PermAll))) })
		return drain(zkLocks(b, addr, 1)[0], crowd, nodesAt(b, addr, path, 1+n))
	}
}

// nodesAt returns what waits until a crowd has queued for long, and a path has n
// nodes with that of the holder. As a rule, it takes one request.
func nodesAt(b testing.TB, addr, path string, n int) func() error {
	c := benchClient(b, addr)
	return func() error {
		last := 0
		for range 10 {
			time.Sleep(crowdQueues)
			there, stat, err := c.Exists(b.Context(), path)
			if err != nil {
				return err
			}
			if there {
				last = int(stat.NumChildren)
			}
			if last >= n {
				return nil
			}
		}
		return fmt.Errorf("only %d of %d have a node at %s", last, n, path)
	}
}

// drain returns rounds in which a crowd waits for a holder. What counts begins with
// the holder's release, when all of them queue.
func drain(holder holds, crowd []holds, queued func() error) round {
	return func() (time.Duration, error) {
		release, err := holder()
		if err != nil {
			return 0, err
		}
		done := make(chan granted, 1)
		go func() {
			_, err := cycling(crowd, 1)()
			done <- granted{at: time.Now(), err: err}
		}()
		err = queued()
		start := time.Now()
		if err := errors.Join(err, release()); err != nil {
			return 0, err
		}
		last := <-done
		return last.at.Sub(start), last.err
	}
}

func ourTries(n int, same bool) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round {
		holder := locks.NewInterProcessMutex(benchClient(b, addr), ourPath(b))
		other := holder
		if !same {
			other = locks.NewInterProcessMutex(benchClient(b, addr), ourPath(b))
		}
		return func() (time.Duration, error) {
			lease, err := holder.Acquire(b.Context())
			if err != nil {
				return 0, err
			}
			start := time.Now()
			for k := 0; k < n && err == nil; k++ {
				err = refused(b, other)
			}
			took := time.Since(start)
			return took, errors.Join(err, lease.Release(context.WithoutCancel(b.Context())))
		}
	}
}

var errTwoHold = errors.New("two hold the mutex")

// refused tries to acquire what is held.
func refused(b testing.TB, mutex *locks.InterProcessMutex) error {
	lease, err := mutex.TryAcquire(b.Context())
	switch {
	case err == nil:
		return errors.Join(errTwoHold, lease.Release(b.Context()))
	case errors.Is(err, locks.ErrNotAcquired):
		return nil
	}
	return err
}

func readAndWrite(n int) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round {
		var all []func() error
		for i := range 8 {
			l := locks.NewInterProcessReadWriteLock(benchClient(b, addr), ourPath(b))
			read, write := locker(b.Context(), l.ReadLock()), locker(b.Context(), l.WriteLock())
			all = append(all, func() (err error) {
				for k := 0; k < n && err == nil; k++ {
					if (k+i)%10 == 0 {
						err = write.cycles(1)
					} else {
						err = read.cycles(1)
					}
				}
				return err
			})
		}
		return atOnce(all...)
	}
}

func semaphore(n int) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round {
		of := repeat(8, func() holds {
			return locker(b.Context(), locks.NewInterProcessSemaphore(benchClient(b, addr), ourPath(b), locks.Limit(8)))
		})
		var all []holds
		for i := range 64 {
			all = append(all, of[i%8])
		}
		return cycling(all, n)
	}
}

func leasesOfFour(n int) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round {
		s := locks.NewInterProcessSemaphore(benchClient(b, addr), ourPath(b), locks.Limit(4))
		four := func() (func() error, error) {
			lease, err := s.AcquireN(b.Context(), 4)
			if err != nil {
				return nil, err
			}
			return func() error { return lease.Release(b.Context()) }, nil
		}
		return cycling([]holds{four}, n)
	}
}

// participants makes the candidates, if they are not there, and lists them.
func participants(n int) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round {
		path := scenario{command: "participants"}.path("")
		c := benchClient(b, addr)
		there, _, err := c.Children(b.Context(), path)
		if !errors.Is(err, zk.ErrNoNode) {
			require.NoError(b, err)
		}
		for i := len(there); i < 100; i++ {
			_, err := c.Create(b.Context(), path+"/lock-", fmt.Appendf(nil, "host-%d/4711", i),
				framework.WithParents(), framework.WithProtection(), framework.WithMode(framework.EphemeralSequential))
			require.NoError(b, err)
		}
		selector := leader.NewSelector(c, path)
		return func() (time.Duration, error) {
			start := time.Now()
			for range n {
				all, err := selector.Participants(b.Context())
				if err != nil {
					return 0, err
				}
				if len(all) != 100 {
					return 0, fmt.Errorf("%d candidates", len(all))
				}
			}
			return time.Since(start), nil
		}
	}
}
