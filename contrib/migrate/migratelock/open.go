package migratelock

import (
	"context"
	"time"

	"github.com/golang-migrate/migrate/v4/database"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// lockWait is shorter than migrate.DefaultLockTimeout, after which golang-migrate
// gives up a Lock that goes on, and may succeed when nobody waits for it.
const lockWait = 10 * time.Second

// Open waits for the lock at the path until ctx ends, calls open under it, and
// returns the driver that it returns, with this lock. All replicas need the same
// path, and databases that have nothing to do with each other need different
// ones. If ctx ends while another replica has the lock, the error is a
// *locks.NotAcquiredError, which names it.
//
// The lock stays held until the first Unlock, which golang-migrate calls at the
// end of Up and the like, or until Close. It is held while open runs because
// drivers begin with requests to the database: they create their table. The end of
// ctx does not end these, and neither does it end a wait for the driver's own lock,
// which those for Postgres, MySQL and SQL Server take for that.
//
// The driver is for one migrate.Migrate, and closes what it was made of:
//
//   - Lock takes our lock, and then the driver's. If ours is not held any more,
//     because of an Unlock or a loss, Lock waits for others for 10 s, and its error
//     then matches database.ErrLocked. If the driver's lock comes later than 14 s
//     after the call, Lock gives both back. golang-migrate's LockTimeout is 15 s by
//     default: do not set a shorter one, and a longer one is of no use. A driver
//     that is locked already refuses at once.
//   - SetVersion and Drop begin no step once the lock is lost: the error is a
//     *LostError, and nothing was changed. A running step continues to its end. If the step
//     succeeds after the lock was lost, the error is a *LostError that says so. The Migrate
//     can be used again.
//   - Unlock gives the locks back in the opposite order.
//   - Close gives the lock back, too, and ends a Lock that still waits for ours.
//     One that waits for the driver's lock may hold Close up, as a query does.
//
// A client that is closed loses its lock. So a process that has to end can stop
// between two steps.
func Open(ctx context.Context, c *framework.Client, path string, open func() (database.Driver, error)) (database.Driver, error) {
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
		if inner == nil { // open has failed, or panics
			_ = lease.Release(ctx)
		}
	}()
	inner, err = opened(open)
	if err != nil {
		return nil, err
	}
	return newDriver(ctx, inner, mutex, lease), nil
}

// opened returns a driver or an error.
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
