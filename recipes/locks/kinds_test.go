package locks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// lease is the part that the leases of all kinds of locks have in common.
type lease interface {
	Context() context.Context
	Release(ctx context.Context) error
}

// acquireFunc acquires some lock.
type acquireFunc func(ctx context.Context) (lease, error)

// lockKind is one way to take a lock. Tests that are the same for all kinds of
// locks use it.
type lockKind struct {
	name string
	// paths are the parents of the lock's nodes.
	paths []string
	// taker makes the acquire under test. The function after undoes the
	// preparations of taker.
	taker func(t *testing.T, c *framework.Client) (take acquireFunc, after func())
	// blocker takes a lock that the taker has to wait for.
	blocker func(c *framework.Client) acquireFunc
	// rival takes everything that the lock has to give.
	rival func(c *framework.Client) acquireFunc
}

// creation is the request that makes the node.
func (k lockKind) creation() zktest.Op {
	if k.name == "downgrade" {
		return zktest.OpMulti
	}
	return zktest.OpCreate
}

// cachedKind is the kind whose lock may stay in the process.
const cachedKind = "cached mutex"

// kindsOfLocks lists all kinds of locks. Their paths are /l and below.
var kindsOfLocks = []lockKind{
	mutexOf("mutex"),
	mutexOf("mutex with hand-over", handingOver(2, time.Minute)),
	mutexOf(cachedKind, idleFor(2, time.Minute)),
	mutexOf("revocable mutex", locks.WithRevocation()),
	{
		name: "reader", paths: []string{"/l"},
		taker: func(_ *testing.T, c *framework.Client) (acquireFunc, func()) {
			return of(rwOf(c).ReadLock()), func() {}
		},
		rival: writerOf, blocker: writerOf,
	},
	{
		name: "writer", paths: []string{"/l"},
		taker: func(_ *testing.T, c *framework.Client) (acquireFunc, func()) {
			return of(rwOf(c).WriteLock()), func() {}
		},
		rival: writerOf, blocker: func(c *framework.Client) acquireFunc { return of(rwOf(c).ReadLock()) },
	},
	{
		name: "downgrade", paths: []string{"/l"}, taker: downgrade,
		rival: writerOf, blocker: func(c *framework.Client) acquireFunc {
			return func(context.Context) (lease, error) { return none{}, nil }
		},
	},
	semaphoreOf("semaphore", 1, locks.Limit(1), 1),
	semaphoreOf("semaphore of several", 3, locks.Limit(3), 3),
	semaphoreOf("semaphore with a shared limit", 2, locks.SharedLimit("/limit", 2), 2),
	{
		name: "multi-lock", paths: []string{"/l/a", "/l/b", "/l/c"},
		taker: func(_ *testing.T, c *framework.Client) (acquireFunc, func()) { return multiOf(c), func() {} },
		rival: multiOf, blocker: func(c *framework.Client) acquireFunc { return of(locks.NewInterProcessMutex(c, "/l/b")) },
	},
}

func mutexOf(name string, opts ...locks.MutexOption) lockKind {
	rival := func(c *framework.Client) acquireFunc { return of(locks.NewInterProcessMutex(c, "/l")) }
	return lockKind{
		name: name, paths: []string{"/l"}, rival: rival, blocker: rival,
		taker: func(_ *testing.T, c *framework.Client) (acquireFunc, func()) {
			return of(locks.NewInterProcessMutex(c, "/l", opts...)), func() {}
		},
	}
}

// semaphoreOf takes n leases of a semaphore. The blocker takes one lease, and
// the rival takes all.
func semaphoreOf(name string, all int, limit locks.SemaphoreLimit, n int) lockKind {
	take := func(n int) func(c *framework.Client) acquireFunc {
		return func(c *framework.Client) acquireFunc {
			s := locks.NewInterProcessSemaphore(c, "/l", limit)
			return func(ctx context.Context) (lease, error) { return s.AcquireN(ctx, n) }
		}
	}
	return lockKind{
		name: name, paths: []string{"/l/locks", "/l/leases"}, rival: take(all), blocker: take(1),
		taker: func(_ *testing.T, c *framework.Client) (acquireFunc, func()) { return take(n)(c), func() {} },
	}
}

// downgrade holds the write lock, and takes the read lock under it.
func downgrade(t *testing.T, c *framework.Client) (acquireFunc, func()) {
	rw := rwOf(c)
	writer, err := rw.WriteLock().Acquire(t.Context())
	require.NoError(t, err)
	var mu sync.Mutex
	var after []func()
	return func(ctx context.Context) (lease, error) {
			under, done := writer.WithContext(ctx)
			mu.Lock()
			after = append(after, done)
			mu.Unlock()
			return rw.ReadLock().Acquire(under)
		}, func() {
			writer.Release(t.Context())
			for _, done := range after {
				done()
			}
		}
}

func rwOf(c *framework.Client) *locks.InterProcessReadWriteLock {
	return locks.NewInterProcessReadWriteLock(c, "/l")
}

func writerOf(c *framework.Client) acquireFunc { return of(rwOf(c).WriteLock()) }

func multiOf(c *framework.Client) acquireFunc {
	m := locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/l/a", "/l/b", "/l/c"})...)
	return func(ctx context.Context) (lease, error) { return m.Acquire(ctx) }
}

func of(l locks.Locker) acquireFunc {
	return func(ctx context.Context) (lease, error) { return l.Acquire(ctx) }
}

// must returns a function that returns the lease, or fails the test.
func must(l lease, err error) func(t *testing.T) lease {
	return func(t *testing.T) lease {
		t.Helper()
		require.NoError(t, err)
		return l
	}
}

// none stands for a lease where there is none.
type none struct{}

func (none) Context() context.Context      { return context.Background() }
func (none) Release(context.Context) error { return nil }
