package migratelock

import (
	"context"
	"time"

	"github.com/golang-migrate/migrate/v4/database"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// lockWait is shorter than migrate.DefaultLockTimeout, after which golang-migrate gives
// up on a Lock that continues and may still succeed, when no caller waits for it.
const lockWait = 10 * time.Second

// Open waits for the lock at the path until ctx ends, calls the function open under the
// lock, and returns its driver, combined with the lock. All replicas need the same
// path, and unrelated databases need different paths. If ctx ends while another replica
// has the lock, the error is a *locks.NotAcquiredError, which names that replica.
//
// The lock stays held until the first Unlock, which golang-migrate calls at the end of
// Up and similar calls, or until Close. The lock is held while open runs because
// drivers begin with requests to the database: they create their table. The end of ctx
// does not end these requests, or a wait for the driver's own lock, which the drivers
// for Postgres, MySQL and SQL Server take for that.
//
// The driver is for one migrate.Migrate:
//
//   - Lock takes the lock in ZooKeeper, and then the driver's own lock. If the lock in
//     ZooKeeper is no longer held, because of an Unlock or a loss, Lock waits at most
//     10 s for other replicas, and its error then matches database.ErrLocked. If the
//     driver's own lock takes more than 14 s from the call, Lock releases both.
//     golang-migrate's LockTimeout is 15 s by default: a shorter one is wrong, and a
//     longer one has no effect. A second Lock fails at once.
//   - SetVersion and Drop begin no step once the lock is lost: the error is a *LostError,
//     and nothing was changed. A running step continues to its end. If the step succeeds
//     after the lock was lost, the error is a *LostError with Begun set. The Migrate can be
//     used again.
//   - Unlock releases the locks in the opposite order.
//   - Close closes the inner driver, releases the lock, too, and ends a Lock that waits
//     for the lock in ZooKeeper. A Lock that waits for the driver's own lock may delay
//     Close, as a query does.
//
// Closing the client loses the lock, so a process that must end can stop between two
// steps.
func Open(
	ctx context.Context, c *framework.Client, path string, open func() (database.Driver, error),
) (database.Driver, error) {
	if open == nil {
		return nil, &framework.ConfigError{Name: "function that opens the driver", Value: "nil", Reason: "must not be nil"}
	}
	mutex := locks.NewInterProcessMutex(c, path)
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	var inner database.Driver
	defer func() {
		if inner == nil { // open has failed or panicked
			_ = lease.Release(ctx)
		}
	}()
	inner, err = opened(open)
	if err != nil {
		return nil, err
	}
	return newDriver(ctx, inner, mutex, lease), nil
}

// opened calls open and returns either a driver or an error.
func opened(open func() (database.Driver, error)) (database.Driver, error) {
	inner, err := open()
	if err != nil {
		return nil, err
	}
	if inner == nil {
		return nil, &framework.ConfigError{Name: "driver", Value: "nil", Reason: "must not be nil"}
	}
	return inner, nil
}
