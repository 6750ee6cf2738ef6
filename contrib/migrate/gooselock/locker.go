package gooselock

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pressly/goose/v3/lock"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// Locker is a lock.Locker and a lock.SessionLocker, for goose.WithLocker or
// goose.WithSessionLocker. It makes no request to the database. It is safe for
// concurrent use, and for several providers.
type Locker struct {
	mutex *locks.InterProcessMutex
	held  chan *locks.Lease // the lease of the provider that holds the lock
}

var (
	_ lock.Locker        = (*Locker)(nil)
	_ lock.SessionLocker = (*Locker)(nil)
)

// New returns a Locker whose lock is at the path. All replicas need the same path,
// and databases that have nothing to do with each other need different ones.
//
// New does not contact the server. A client or a path that cannot be used is an
// error of every Lock.
func New(c *framework.Client, path string) *Locker {
	return &Locker{mutex: locks.NewInterProcessMutex(c, path), held: make(chan *locks.Lease, 1)}
}

// Do waits for the lock until ctx ends, and calls f with a context that ends when
// the lock is lost, and with ctx. The cause, from context.Cause, says why. Calls
// of a provider with that context need not wait for the lock, if it has this
// Locker. Otherwise they have the provider's lock as well.
//
// Do returns the error of f. If the lock was lost while f ran, the error also
// matches the reason, such as framework.ErrSessionLost.
func (l *Locker) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return l.mutex.Do(ctx, f)
}

// Lock is for goose. It waits until ctx ends; then, if another replica has the
// lock, the error is a *locks.NotAcquiredError, which names it.
//
// If another provider of this Locker has lost the lock and goes on without it,
// Lock waits for its end.
func (l *Locker) Lock(ctx context.Context, _ *sql.DB) error {
	lease, err := l.mutex.Acquire(ctx)
	if err != nil {
		return err
	}
	select {
	case l.held <- lease:
		return nil
	case <-ctx.Done():
		_ = lease.Release(ctx)
		return fmt.Errorf("wait for the provider that has lost this lock: %w", context.Cause(ctx))
	}
}

// Unlock is for goose. It returns the reason if the lock was lost before.
func (l *Locker) Unlock(ctx context.Context, _ *sql.DB) error {
	select {
	case lease := <-l.held:
		return lease.Release(ctx)
	default:
		return locks.ErrReleased
	}
}

// SessionLock is Lock.
func (l *Locker) SessionLock(ctx context.Context, _ *sql.Conn) error { return l.Lock(ctx, nil) }

// SessionUnlock is Unlock.
func (l *Locker) SessionUnlock(ctx context.Context, _ *sql.Conn) error { return l.Unlock(ctx, nil) }
