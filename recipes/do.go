package recipes

import (
	"context"
	"errors"
	"fmt"
)

// do runs f under a lease of a lock.
func do(ctx context.Context, l Locker, f func(context.Context) error) (err error) {
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

// withLoss returns the work's own error, if it is the only one.
func withLoss(work, loss error) error {
	if loss == nil {
		return work
	}
	return errors.Join(work, loss)
}
