package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// InterProcessMultiLock is several locks taken as one: all of them or none. It is safe for concurrent use. One of no locks
// at all is acquired at once and guards nothing, not even against the loss of the session.
type InterProcessMultiLock struct {
	locks []Locker
}

// NewInterProcessMultiLock returns the lock that consists of a mutex for each path. They are acquired in the order of the
// paths as text, whatever order they are given in, and each once, so that two who want some of the same cannot wait for
// each other. Who mixes this with other ways to lock several should keep to the same order. No paths at all are an error of
// every acquire.
func NewInterProcessMultiLock(c *framework.Client, paths []string, opts ...LockOption) *InterProcessMultiLock {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	l := &InterProcessMultiLock{}
	for _, path := range paths {
		l.locks = append(l.locks, NewInterProcessMutex(c, path, opts...))
	}
	return l
}

// CombineLocks returns the lock that consists of these, of whatever kind. They are acquired in this order, which should be
// the same for all who take some of the same locks: else two may wait for each other, until their contexts end.
func CombineLocks(locks ...Locker) *InterProcessMultiLock {
	return &InterProcessMultiLock{slices.Clone(locks)}
}

// Acquire acquires one lock after the other, until ctx ends. The first that fails ends the attempt: those that were
// acquired are released, the last first, and its error is returned, which names the lock. If one is lost while others are
// waited for, all is begun again.
func (l *InterProcessMultiLock) Acquire(ctx context.Context) (*MultiLease, error) {
	return l.acquire(ctx, true, Locker.Acquire)
}

// TryAcquire is Acquire without waiting for other contenders.
func (l *InterProcessMultiLock) TryAcquire(ctx context.Context) (*MultiLease, error) {
	return l.acquire(ctx, false, Locker.TryAcquire)
}

// Do is that of InterProcessMutex, with a context that ends when any of the locks is lost.
func (l *InterProcessMultiLock) Do(ctx context.Context, f func(ctx context.Context) error) (err error) {
	if f == nil {
		return fmt.Errorf("do: %w", errNoWork)
	}
	lease, err := l.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { err = withLoss(err, lease.Release(ctx)) }() // also if f panics
	under, done := lease.Under(ctx)
	defer done()
	return f(under)
}

func (l *InterProcessMultiLock) acquire(ctx context.Context, wait bool, one func(Locker, context.Context) (*Lease, error)) (*MultiLease, error) {
	if len(l.locks) == 0 || slices.ContainsFunc(l.locks, absent) {
		return nil, &framework.OpError{Op: "acquire", Path: "multi-lock", Err: fmt.Errorf("%w: no locks, or one that is nil", zk.ErrBadArguments)}
	}
	during, try := l.begin(ctx, wait)
	defer try.trace.left()
	m, err := l.acquireAll(ctx, during, one)
	told := false
	defer func() {
		if m != nil && !told { // the user's tracer has panicked, and nobody will have the lease
			m.Release(ctx)
		}
	}()
	try.trace.ended(nil, err)
	told = true
	return m, err
}

// begin tells the tracer of the first of the locks that has one. The others' acquires are told within this one.
func (l *InterProcessMultiLock) begin(ctx context.Context, wait bool) (context.Context, attempt) {
	for _, lock := range l.locks {
		d, ok := lock.(described)
		if !ok {
			continue
		}
		part := d.describe(wait)
		if part.Client == nil { // which its acquire will say
			continue
		}
		if _, ok := part.Client.Tracer().(Tracer); !ok {
			continue
		}
		return begin(ctx, Acquire{
			Client: part.Client, Recipe: RecipeMultiLock, Name: part.Name, Leases: len(l.locks), Try: !wait,
		})
	}
	return ctx, attempt{}
}

// described is a lock of this package.
type described interface{ describe(wait bool) Acquire }

func (m *InterProcessMutex) describe(wait bool) Acquire     { return m.lock.describe(wait) }
func (r *ReadLock) describe(wait bool) Acquire              { return orZero(r.of).read.describe(wait) }
func (w *WriteLock) describe(wait bool) Acquire             { return orZero(w.of).write.describe(wait) }
func (s *InterProcessSemaphore) describe(wait bool) Acquire { return s.leases.describe(wait) }
func (m *InterProcessSemaphoreMutex) describe(wait bool) Acquire {
	return orZero(m.semaphore).describe(wait)
}

// acquireAll begins again until all locks are acquired without a loss. The leases have the values of ctx, the requests
// those of during.
func (l *InterProcessMultiLock) acquireAll(ctx, during context.Context, one func(Locker, context.Context) (*Lease, error)) (*MultiLease, error) {
	for {
		m, lost, err := l.acquireOnce(ctx, during, one)
		switch {
		case err == nil:
			return m, nil
		case !lost || ctx.Err() != nil || errors.Is(err, framework.ErrClosed):
			return nil, err
		}
	}
}

// acquireOnce reports whether one of the locks was lost while it acquired the others.
func (l *InterProcessMultiLock) acquireOnce(ctx, during context.Context, one func(Locker, context.Context) (*Lease, error)) (m *MultiLease, lost bool, err error) {
	m = &MultiLease{ctx: context.WithoutCancel(ctx), joined: context.WithoutCancel(ctx)}
	complete := false
	defer func() {
		if !complete { // also if a Locker panics
			lost = slices.ContainsFunc(m.leases, func(l *Lease) bool { return l.Context().Err() != nil })
			m.Release(unlessDown(ctx, err)) // or our own nodes would be in the way of who tries next
		}
	}()
	err = m.acquireAll(during, l.locks, one)
	complete = err == nil
	return m, false, err
}

// MultiLease is the lease of several locks. It must be released.
type MultiLease struct {
	leases []*Lease
	ctx    context.Context
	joined context.Context // the same, but it does not lead to a lease
	done   []context.CancelFunc
}

// acquireAll acquires each lock under the leases of those before it.
func (m *MultiLease) acquireAll(ctx context.Context, locks []Locker, one func(Locker, context.Context) (*Lease, error)) error {
	for _, lock := range locks {
		if err := m.acquire(ctx, lock, one); err != nil {
			return err
		}
	}
	return nil
}

func (m *MultiLease) acquire(ctx context.Context, lock Locker, one func(Locker, context.Context) (*Lease, error)) error {
	under, done := m.Under(ctx)
	defer done()
	lease, err := one(lock, under)
	if err != nil {
		return err
	}
	m.leases = append(m.leases, lease)
	joined, apart := endingWith(lease.joined(m.joined), m.joined)
	m.ctx, m.joined, m.done = leaseContext{joined, lease}, joined, append(m.done, apart)
	return nil
}

// Context ends when any of the locks is not held any more, or can no longer be trusted to be, with the reason as its
// cause; see Lease.Context.
func (m *MultiLease) Context() context.Context { return m.ctx }

// Under returns a copy of ctx that ends with any of the locks, too; see Lease.Under.
func (m *MultiLease) Under(ctx context.Context) (context.Context, context.CancelFunc) {
	var all []context.CancelFunc
	for _, l := range m.leases {
		var done context.CancelFunc
		ctx, done = l.Under(ctx)
		all = append(all, done)
	}
	return ctx, func() {
		for _, done := range slices.Backward(all) {
			done()
		}
	}
}

// Leases returns the leases in the order in which they were acquired. Each has the fencing token of its own lock.
func (m *MultiLease) Leases() []*Lease { return slices.Clone(m.leases) }

// Release releases all locks, the last first, and returns their errors joined. One that cannot be released does not keep
// the others. What is an error, and how long it waits, is as in Lease.Release.
func (m *MultiLease) Release(ctx context.Context) error {
	var all error
	for _, l := range slices.Backward(m.leases) {
		all = errors.Join(all, l.Release(ctx))
	}
	for _, done := range slices.Backward(m.done) {
		done()
	}
	return all
}
