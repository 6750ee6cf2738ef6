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

	"github.com/gocurator/curator/recipes/locks"
)

// scenario is what BenchmarkPeers compares. A round has so many operations.
type scenario struct {
	name    string
	command string // what the programs call it
	times   int    // what they get
	ops     int

	ours  func(b testing.TB, addr string) round
	peers []string
}

// path returns where a library has its nodes.
func (s scenario) path(library string) string { return "/bench/" + s.name + "-" + library }

var (
	everyone           = []string{"curator", "kazoo", "etcd", "redis"}
	others             = []string{"kazoo", "etcd", "redis"} // BenchmarkSpeed has Curator
	clientsOfZooKeeper = []string{"curator", "kazoo"}
	onlyJavas          = []string{"curator"}
)

// queues is how long a client has queued before the other one releases. etcd looks
// every 100 ms for watchers as its mutex does.
const queues = 150 * time.Millisecond

// These are the scenarios. An operation is an acquire and release, unless it says
// something else:
//
//   - one-worker: a client acquires and releases.
//   - 64-paths: 64 goroutines of a client, with a path each.
//   - 8-sessions: eight clients, with one path. (The package of etcd is not in it: a
//     client that has not queued for 100 ms would wait for the rest of them at
//     each hand-over.)
//   - hand-over: the time from a client's release until another client, which
//     waits, has the lock.
//   - failed-try: a try to acquire what another client holds.
//   - read-write: eight clients. One of ten acquires is the writer's. (kazoo 2.8
//     came to no end here.)
//   - semaphore-8-of-64: 64 goroutines, or threads, of eight clients want one of
//     eight leases each.
//   - acquire-4: four leases of a semaphore at once.
var scenarios = []scenario{
	{name: "one-worker", command: "one", times: 50, ops: 50, ours: cyclesOf(1, 50), peers: others},
	{name: "64-paths", command: "own", times: 2, ops: 128, ours: ownPaths(64, 2), peers: []string{"etcd", "redis"}},
	{
		name: "8-sessions", command: "sessions", times: 10, ops: 80,
		ours: cyclesOf(8, 10), peers: []string{"kazoo", "redis"},
	},
	{name: "hand-over", command: "hand-over", times: 5, ops: 5, ours: ourHandOvers(5), peers: others},
	{name: "failed-try", command: "try", times: 50, ops: 50, ours: ourTries(50), peers: everyone},
	{name: "read-write", command: "read-write", times: 20, ops: 160, ours: readAndWrite(20), peers: onlyJavas},
	{name: "semaphore-8-of-64", command: "semaphore", times: 2, ops: 128, ours: semaphore(2), peers: clientsOfZooKeeper},
	{name: "acquire-4", command: "acquire-4", times: 20, ops: 20, ours: leasesOfFour(20), peers: onlyJavas},
}

// ourPath is where our side has its nodes: its scenario is part of the name.
func ourPath(b testing.TB) string { return "/bench/go" + b.Name() }

// holds acquires, and returns what releases.
type holds func() (release func() error, err error)

// locker returns what acquires one of our locks.
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

func mutexes(b testing.TB, addr string, clients int) (all []holds) {
	for range clients {
		all = append(all, locker(b.Context(), locks.NewInterProcessMutex(benchClient(b, addr), ourPath(b))))
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

func cyclesOf(clients, n int) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round { return cycling(mutexes(b, addr, clients), n) }
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

// granted is the end of an acquire.
type granted struct {
	member  int
	at      time.Time
	release func() error
	err     error
}

// handOvers returns rounds in which all hold in turn, n times after the first. Who
// has released queues again, as the last. All have queued for so long before the
// next release.
func handOvers(all []holds, n int, queued time.Duration) round {
	return func() (sum time.Duration, err error) {
		grants := make(chan granted, len(all))
		acquire := func(member int) {
			go func() {
				release, err := all[member]()
				grants <- granted{member, time.Now(), release, err}
			}()
		}
		for i := range all {
			acquire(i)
			time.Sleep(queued)
		}
		holder := <-grants
		for i := 0; i < n && holder.err == nil; i++ {
			start := time.Now()
			if err := holder.release(); err != nil {
				return 0, err
			}
			next := <-grants
			sum += next.at.Sub(start)
			if i+len(all) <= n { // each of n+1 acquires comes to hold
				acquire(holder.member)
			}
			time.Sleep(queued)
			holder = next
		}
		if holder.err != nil {
			return 0, holder.err
		}
		return sum, holder.release()
	}
}

func ourTries(n int) func(testing.TB, string) round {
	return func(b testing.TB, addr string) round {
		holder := locks.NewInterProcessMutex(benchClient(b, addr), ourPath(b))
		other := locks.NewInterProcessMutex(benchClient(b, addr), ourPath(b))
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
