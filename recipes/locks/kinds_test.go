package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// lease is what every kind of lock is held by.
type lease interface {
	Context() context.Context
	Release(ctx context.Context) error
}

// acquireFunc is an acquire of some lock.
type acquireFunc func(ctx context.Context) (lease, error)

// lockKind is one way to take a lock, for the tests that are the same for all
// of them.
type lockKind struct {
	name    string
	paths   []string                                                                 // where there are nodes
	taker   func(t *testing.T, c *framework.Client) (take acquireFunc, after func()) // of the lock in question; after undoes what it needs
	blocker func(c *framework.Client) acquireFunc                                    // takes what the taker has to wait for
	rival   func(c *framework.Client) acquireFunc                                    // takes everything
}

// kindsOfLocks are all of them. Their paths are /l and below.
var kindsOfLocks = []lockKind{
	mutexOf("mutex"),
	mutexOf("mutex with hand-over", locks.WithLocalHandOver(2, time.Minute)),
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

// semaphoreOf takes n leases of a semaphore; the blocker takes one.
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
	return func(ctx context.Context) (lease, error) {
		under, done := writer.WithContext(ctx)
		defer done()
		return rw.ReadLock().Acquire(under)
	}, func() { writer.Release(t.Context()) }
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

// must returns a lease, or fails the test.
func must(l lease, err error) func(t *testing.T) lease {
	return func(t *testing.T) lease {
		t.Helper()
		require.NoError(t, err)
		return l
	}
}

// none is no lease.
type none struct{}

func (none) Context() context.Context      { return context.Background() }
func (none) Release(context.Context) error { return nil }
