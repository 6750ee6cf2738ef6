package recipes

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework"
)

// do runs f under a lease of a lock.
func do(ctx context.Context, l Locker, f func(context.Context) error) (err error) {
	lease, err := l.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { err = withLoss(err, releaseAfter(ctx, lease)) }() // also if f panics
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

// releaseAfter releases a lease when the work is done.
func releaseAfter(ctx context.Context, l *Lease) error {
	err := l.Release(ctx)
	return failureOfWork(ctx, l.Context(), err)
}

// failureOfWork returns what the work's caller is told of the end of what it was done under: held, which has ended, with
// err. That the client goes on with the deletion in the background is no failure of the work; that the lock was lost is.
func failureOfWork(ctx, held context.Context, err error) error {
	lost := !errors.Is(context.Cause(held), ErrReleased)
	if !lost && (ctx.Err() != nil || framework.IsConnectionError(err)) {
		return nil
	}
	return err
}
