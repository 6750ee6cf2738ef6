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

// InterProcessMultiLock is several locks taken as one: all of them or none. It
// is safe for concurrent use. The lease's context ends when any of the locks
// is not held any more.
type InterProcessMultiLock struct {
	locks []Locker
}

// NewInterProcessMultiLock returns the lock that consists of these locks, which
// may be of different kinds. They are acquired in this order. The order should
// be the same for all who take some of the same locks: else two may wait for
// each other, until their contexts end. SortedMutexes makes such an order.
//
// Every acquire returns an error if there is no lock at all, or if one is nil or has a
// minimum hold: see ReleasePolicy. A semaphore that is there more often than it has
// leases waits for itself: it is not re-entrant.
func NewInterProcessMultiLock(locks ...Locker) *InterProcessMultiLock {
	return &InterProcessMultiLock{locks: slices.Clone(locks)}
}

// SortedMutexes returns an InterProcessMutex for each path, once, in the order
// of the paths as text. An InterProcessMultiLock of them takes locks in the
// same order as every other one:
//
//	locks.NewInterProcessMultiLock(locks.SortedMutexes(client, paths)...)
func SortedMutexes(c *framework.Client, paths []string, opts ...MutexOption) []Locker {
	var all []Locker
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		all = append(all, NewInterProcessMutex(c, path, opts...))
	}
	return all
}

// Acquire acquires one lock after the other, until ctx ends. The first that
// fails ends the attempt: those that were acquired are released, the last
// first, and its error is returned, which names the lock. If one is lost while
// others are waited for, all is begun again.
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

// Participants returns the participants of one lock after the other. Positions
// are those in the queue of each lock. A Locker from elsewhere that has no such
// method is left out.
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

// fault returns why the locks cannot be taken as one. A multi-lock among them checks
// its own.
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

// hasNil reports whether one of the locks is nil, also in multi-locks among them.
func (l *InterProcessMultiLock) hasNil() bool {
	return slices.ContainsFunc(l.locks, func(lock Locker) bool {
		several, ok := lock.(*InterProcessMultiLock)
		return isNilLock(lock) || ok && several.hasNil()
	})
}

// isNilLock reports whether there is no lock in an interface: nothing, or a nil
// pointer, whose methods would panic.
func isNilLock(l Locker) bool {
	if l == nil {
		return true
	}
	r := reflect.ValueOf(l)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// startTrace tells the tracer of the first of the locks that has one. The
// others' acquires are told within this one.
func (l *InterProcessMultiLock) startTrace(ctx context.Context, wait bool) (context.Context, *trace.Acquire) {
	for _, lock := range l.locks {
		d, ok := lock.(described)
		if !ok {
			continue
		}
		part := d.describe(wait)
		if part.Client == nil { // its acquire will say so
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

// acquireAll begins again until all locks are acquired without a loss. It does so
// also if ctx has ended meanwhile: then the next attempt says that. The lease has
// the values of ctx, and the requests have during's.
func (l *InterProcessMultiLock) acquireAll(ctx, during context.Context, one acquireOne) (*seat.Lease, error) {
	var before *NotAcquiredError
	var ended error // why no attempt can succeed any more
	pause := pauses.Vanished()
	for {
		lease, lost, err := l.acquireOnce(ctx, during, one)
		if lost && ended != nil { // a Locker from elsewhere does not look at its context
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

// pauseBetween pauses before the next attempt, longer each time. Its error says
// why the next attempt must fail. The client is nil if no lock was acquired.
func pauseBetween(ctx context.Context, c *framework.Client, pause *pauses.Growing) error {
	if c != nil {
		_ = follow.Pause(ctx, c, pause) // the caller learns of the end of ctx below
	}
	switch {
	case ctx.Err() != nil:
		return reason.OfContext(ctx)
	case c != nil && framework.Extend(c).Context().Err() != nil:
		return framework.ErrClosed
	}
	return nil
}

// withQueue returns the error of an attempt whose ctx has ended. If the attempt
// was begun again, and has not come to see a queue since, the error says what
// it saw before.
func withQueue(ctx context.Context, err error, before *NotAcquiredError) error {
	if ctx.Err() == nil || before == nil || reason.Is(err, ErrNotAcquired) {
		return err
	}
	now := *before
	now.Age, now.Err = time.Since(now.Seen), err
	return &now
}

// acquireOnce reports whether one of the locks was lost while it acquired the
// others. It waits for the release of those: their nodes would be in the way of
// the next who tries.
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

// acquireUnder acquires a lock under the leases of those before it.
func acquireUnder(ctx context.Context, all *seat.Lease, lock Locker, one acquireOne) error {
	under, done := all.WhileHeld(ctx)
	defer done()
	lease, err := one(lock, under)
	switch {
	case err != nil:
		return err
	case lease == nil: // of a Locker from elsewhere
		return &framework.OpError{Op: "acquire", Path: "multi-lock", Err: seat.IsNil("lease")}
	}
	all.Add(lease.inner())
	return nil
}
