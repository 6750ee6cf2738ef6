package locks

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Locker is a lock that can be part of an InterProcessMultiLock. Every lock of this
// package implements it. They all have Do and Participants, too.
type Locker interface {
	// Acquire waits for the lock until ctx ends.
	Acquire(ctx context.Context) (*Lease, error)

	// TryAcquire is Acquire without waiting for other contenders.
	// InterProcessMutex.TryAcquire says what a try costs.
	TryAcquire(ctx context.Context) (*Lease, error)
}

// participated is a lock that can list its contenders.
type participated interface {
	Participants(ctx context.Context) ([]Participant, error)
}

var (
	_ Locker = (*InterProcessMutex)(nil)
	_ Locker = (*ReadLock)(nil)
	_ Locker = (*WriteLock)(nil)
	_ Locker = (*InterProcessSemaphore)(nil)
	_ Locker = (*InterProcessMultiLock)(nil)
)

// described is a lock that can describe itself to a tracer.
type described interface {
	describe(wait bool) locktrace.Acquire
}

// do runs f under a lease of a lock.
func do(ctx context.Context, l Locker, f func(context.Context) error) (err error) {
	if f == nil {
		return fmt.Errorf("do: %w", seat.IsNil("work"))
	}
	lease, err := l.Acquire(ctx)
	if err != nil {
		return err
	}
	defer seat.AwaitDeadline(ctx)                              // f may have seen the deadline first
	defer func() { err = withLoss(err, lease.Release(ctx)) }() // f may panic
	under, done := lease.WithContext(ctx)
	defer done()
	return f(under)
}

// withLoss returns the error of the work, joined with the error of the release if there
// is one.
func withLoss(work, loss error) error {
	if loss == nil {
		return work
	}
	return errors.Join(work, loss)
}

// orZero returns of. If of is nil, because a value was not made by its constructor, it
// returns a zero value, whose calls return errors.
func orZero[T any](of *T) *T {
	if of == nil {
		return new(T)
	}
	return of
}
