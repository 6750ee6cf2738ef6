package gooselock

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pressly/goose/v3/lock"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// Locker is a lock.Locker, for goose.WithLocker, which is the option to use. It is
// a lock.SessionLocker, too, for code that takes no other. It makes no request to
// the database. It is safe for concurrent use, and for several providers. The zero
// Locker cannot be used, and its calls are errors: New makes one.
type Locker struct {
	mutex *locks.InterProcessMutex
	held  chan *locks.Lease // the lease of the provider that holds the lock
}

var (
	_ lock.Locker        = (*Locker)(nil)
	_ lock.SessionLocker = (*Locker)(nil)
)

// errNotMade is the error of the zero Locker.
var errNotMade error = &framework.ConfigError{Name: "Locker", Value: "zero", Reason: "must be made by New"}

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
// Providers that have this Locker take turns under Do as well. So a migration of
// one of them must not call another one: that call would wait for itself, until its
// context ends.
//
// Do returns the error of f. If the lock was lost while f ran, the error also
// matches the reason, such as framework.ErrSessionLost.
func (l *Locker) Do(ctx context.Context, f func(ctx context.Context) error) error {
	if l.mutex == nil {
		return errNotMade
	}
	return l.mutex.Do(ctx, f)
}

// Lock is for goose. It waits until ctx ends; then, if another replica has the
// lock, the error is a *locks.NotAcquiredError, which names it.
//
// Lock waits for the end of another provider of this Locker that goes on: because
// it does so without its lock, or because both are under the same Do. If the lock is
// lost during that wait, the error is the reason.
func (l *Locker) Lock(ctx context.Context, _ *sql.DB) error {
	if l.mutex == nil {
		return errNotMade
	}
	lease, err := l.mutex.Acquire(ctx)
	if err != nil {
		return err
	}
	select {
	case l.held <- lease:
		lost := context.Cause(lease.Context()) // during the wait
		if lost != nil {
			_ = l.Unlock(ctx, nil)
		}
		return lost
	case <-ctx.Done():
		_ = lease.Release(ctx)
		return fmt.Errorf("wait for another provider of this locker: %w", context.Cause(ctx))
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

// SessionLock is Lock, for code that takes no lock.Locker. With
// goose.WithSessionLocker, goose refuses Go migrations without a transaction if the
// database has one connection. With goose.WithLocker it does not.
func (l *Locker) SessionLock(ctx context.Context, _ *sql.Conn) error { return l.Lock(ctx, nil) }

// SessionUnlock is Unlock, and belongs to SessionLock.
func (l *Locker) SessionUnlock(ctx context.Context, _ *sql.Conn) error { return l.Unlock(ctx, nil) }
