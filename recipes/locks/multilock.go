package locks

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/internal/trace"
	"github.com/gocurator/curator/recipes/locktrace"
)

// InterProcessMultiLock combines several locks: an acquire takes all of them or none. It
// is safe for concurrent use. The lease's context ends when any of the locks is lost.
//
// Under state.StandardPolicy, a lost connection ends an acquire's locks, too: the acquire
// starts again with the first lock, behind all contenders that have queued meanwhile.
type InterProcessMultiLock struct {
	locks []Locker
}

// NewInterProcessMultiLock returns a lock that consists of these locks, which may be of
// different kinds. They are acquired in this order. All programs that take some of the
// same locks should use the same order: otherwise two of them may wait for each other
// until their contexts end. SortedMutexes returns locks in such an order.
//
// Every acquire returns an error if there are no locks, if a lock is nil, or if a lock
// has a minimum hold: see ReleasePolicy. A semaphore that is listed more often than it
// has leases waits for itself, because it is not re-entrant.
func NewInterProcessMultiLock(locks ...Locker) *InterProcessMultiLock {
	return &InterProcessMultiLock{locks: slices.Clone(locks)}
}

// SortedMutexes returns one InterProcessMutex for each distinct path, sorted by path. All
// InterProcessMultiLocks of such mutexes take common locks in the same order:
//
//	locks.NewInterProcessMultiLock(locks.SortedMutexes(client, paths)...)
func SortedMutexes(c *framework.Client, paths []string, opts ...MutexOption) []Locker {
	var all []Locker
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		all = append(all, NewInterProcessMutex(c, path, opts...))
	}
	return all
}

// Acquire acquires the locks one after the other, until ctx ends. If one acquire fails,
// Acquire releases the locks it has, in reverse order, and returns the error, which names
// the lock. If a lock is lost while Acquire waits for another one, Acquire starts again.
func (l *InterProcessMultiLock) Acquire(ctx context.Context) (*Lease, error) {
	return l.acquire(ctx, true, Locker.Acquire)
}

// TryAcquire is Acquire without waiting for other contenders.
func (l *InterProcessMultiLock) TryAcquire(ctx context.Context) (*Lease, error) {
	return l.acquire(ctx, false, Locker.TryAcquire)
}

// Do is like InterProcessMutex.Do, with a context that ends when any of the
// locks is lost.
func (l *InterProcessMultiLock) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return do(ctx, l, f)
}

// Participants returns the participants of all locks, one lock after the other. The
// positions are per lock. A Locker from another package without this method is left out.
func (l *InterProcessMultiLock) Participants(ctx context.Context) ([]Participant, error) {
	if err := l.usable("participants"); err != nil {
		return nil, err
	}
	var all []Participant
	for _, lock := range l.locks {
		p, ok := lock.(participated)
		if !ok {
			continue
		}
		some, err := p.Participants(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// acquireOne is Locker.Acquire or Locker.TryAcquire.
type acquireOne func(Locker, context.Context) (*Lease, error)

func (l *InterProcessMultiLock) acquire(ctx context.Context, wait bool, one acquireOne) (lease *Lease, err error) {
	if err := l.usable("acquire"); err != nil {
		return nil, err
	}
	during, told := l.startTrace(ctx, wait)
	all, err := l.acquireAll(ctx, during, one)
	defer func() {
		if all != nil && lease == nil { // a hook has panicked
			all.Release(ctx)
		}
	}()
	told.Ended(seat.EndOf(nil, err))
	return leaseOf(all, err)
}

func (l *InterProcessMultiLock) usable(op string) error {
	if err := l.fault(); err != nil {
		return &framework.OpError{Op: op, Path: "multi-lock", Err: err}
	}
	return nil
}

// fault returns why the locks cannot be combined. A multi-lock among them checks its own
// locks.
func (l *InterProcessMultiLock) fault() error {
	switch {
	case len(l.locks) == 0:
		return seat.Invalid("number of locks", "0", "a multi-lock needs at least one lock")
	case l.hasNil():
		return seat.IsNil("lock")
	}
	for _, lock := range l.locks {
		if m, ok := lock.(*InterProcessMutex); ok && m.lock.HasMinimumHold() {
			return seat.Invalid("lock", printable.String(m.lock.Path()), "has a minimum hold, which no multi-lock keeps")
		}
	}
	return nil
}

// hasNil reports whether one of the locks is nil, including the locks of nested
// multi-locks.
func (l *InterProcessMultiLock) hasNil() bool {
	return slices.ContainsFunc(l.locks, func(lock Locker) bool {
		several, ok := lock.(*InterProcessMultiLock)
		return isNilLock(lock) || ok && several.hasNil()
	})
}

// isNilLock reports whether the interface is nil or has a nil pointer, whose methods
// would panic.
func isNilLock(l Locker) bool {
	if l == nil {
		return true
	}
	r := reflect.ValueOf(l)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// startTrace starts the trace of the acquire, with the tracer of the first lock that has
// one. The acquires of the individual locks are traced within it.
func (l *InterProcessMultiLock) startTrace(ctx context.Context, wait bool) (context.Context, *trace.Acquire) {
	for _, lock := range l.locks {
		d, ok := lock.(described)
		if !ok {
			continue
		}
		part := d.describe(wait)
		if part.Client == nil { // its acquire returns an error
			continue
		}
		during, told := trace.StartAcquire(ctx, locktrace.Acquire{
			Client: part.Client, Recipe: locktrace.RecipeMultiLock, Name: part.Name, Leases: len(l.locks), Try: !wait,
		})
		if told != nil {
			return during, told
		}
	}
	return ctx, nil
}

func (l *InterProcessMultiLock) describe(wait bool) locktrace.Acquire {
	for _, lock := range l.locks {
		if d, ok := lock.(described); ok {
			return d.describe(wait)
		}
	}
	return locktrace.Acquire{}
}

// acquireAll starts again until all locks are acquired without a loss. Even after ctx has
// ended, acquireAll starts again, and the next attempt returns the error of ctx. The
// lease has the values of ctx, and the requests use during.
func (l *InterProcessMultiLock) acquireAll(ctx, during context.Context, one acquireOne) (*seat.Lease, error) {
	var before *NotAcquiredError
	var ended error // why no further attempt can succeed
	pause := pauses.Vanished()
	for {
		lease, lost, err := l.acquireOnce(ctx, during, one)
		if lost && ended != nil { // a Locker from another package may ignore its context
			lost, err = false, &framework.OpError{Op: "acquire", Path: "multi-lock", Err: ended}
		}
		switch {
		case err == nil:
			return lease, nil
		case !lost || reason.Is(err, framework.ErrClosed):
			seat.AwaitDeadline(ctx)
			return nil, withQueue(ctx, err, before)
		}
		reason.As(err, &before)
		ended = pauseBetween(ctx, lease.Client(), &pause)
	}
}

// pauseBetween pauses before the next attempt, longer each time. It returns an error if
// the next attempt must fail. The client is nil if no lock was acquired.
func pauseBetween(ctx context.Context, c *framework.Client, pause *pauses.Growing) error {
	if c != nil {
		_ = follow.Pause(ctx, c, pause) // the end of ctx is returned below
	}
	switch {
	case ctx.Err() != nil:
		return reason.OfContext(ctx)
	case c != nil && framework.Extend(c).Context().Err() != nil:
		return framework.ErrClosed
	}
	return nil
}

// withQueue returns the error of an attempt whose ctx has ended. If the attempt was a
// repetition that ended before it saw a queue, the error describes the queue that an
// earlier attempt saw.
func withQueue(ctx context.Context, err error, before *NotAcquiredError) error {
	if ctx.Err() == nil || before == nil || reason.Is(err, ErrNotAcquired) {
		return err
	}
	now := *before
	now.Age, now.Err = time.Since(now.Seen), err
	return &now
}

// acquireOnce acquires all locks once, and reports whether one of them was lost
// meanwhile. After a failure, it waits for the release of the acquired locks: otherwise
// their nodes would block the next attempt.
func (l *InterProcessMultiLock) acquireOnce(
	ctx, during context.Context, one acquireOne,
) (all *seat.Lease, lost bool, err error) {
	all = seat.Several(ctx)
	defer func() {
		if len(all.Leases()) < len(l.locks) { // an acquire has failed, or a hook has panicked in it
			lost = all.AnyLost()
			all.Release(seat.UnlessDown(ctx, err))
		}
	}()
	for _, lock := range l.locks {
		if err = acquireUnder(during, all, lock, one); err != nil {
			return all, false, err
		}
	}
	return all, false, nil
}

// acquireUnder acquires a lock under the leases of the previous locks.
func acquireUnder(ctx context.Context, all *seat.Lease, lock Locker, one acquireOne) error {
	under, done := all.WhileHeld(ctx)
	defer done()
	lease, err := one(lock, under)
	switch {
	case err != nil:
		return err
	case lease == nil: // a Locker from another package has returned it
		return &framework.OpError{Op: "acquire", Path: "multi-lock", Err: seat.IsNil("lease")}
	}
	all.Add(lease.inner())
	return nil
}
