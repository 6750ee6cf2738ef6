package locks

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Locker is a lock that can be one of several in an InterProcessMultiLock.
// Every lock of this package is one; they all have Do and Participants, too.
type Locker interface {
	// Acquire waits for the lock until ctx ends.
	Acquire(ctx context.Context) (*Lease, error)

	// TryAcquire is Acquire without waiting for other contenders.
	TryAcquire(ctx context.Context) (*Lease, error)
}

// participated is a lock that knows its contenders.
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

// described is a lock that can tell a tracer of itself.
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
	defer seat.AwaitDeadline(ctx)                              // f may have heard of it first
	defer func() { err = withLoss(err, lease.Release(ctx)) }() // f may panic
	under, done := lease.WithContext(ctx)
	defer done()
	return f(under)
}

// withLoss returns the work's own error, if it is the only one.
func withLoss(work, loss error) error {
	if loss == nil {
		return work
	}
	return errors.Join(work, loss)
}

// orZero returns what a value was made of. For a value that no constructor has
// made that is a zero value, whose calls are errors.
func orZero[T any](of *T) *T {
	if of == nil {
		return new(T)
	}
	return of
}
