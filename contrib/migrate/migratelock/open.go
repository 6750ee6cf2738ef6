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
// ctx does not end these.
//
// The driver is for one migrate.Migrate, and closes what it was made of:
//
//   - Lock takes our lock, and then the driver's. After the first Unlock it waits
//     for others for 10 s, and its error then matches database.ErrLocked. That is
//     less than golang-migrate's LockTimeout, which is 15 s by default: do not set
//     a shorter one. A driver that is locked already refuses at once.
//   - SetVersion and Drop begin no step once the lock is lost: the error is a
//     *LostError, and nothing was changed. A step that has begun ends as it
//     would.
//   - Unlock gives the locks back in the opposite order. It returns a *LostError
//     if the last step has ended without the lock. It does not repeat a loss for
//     which a step was refused, so that the Migrate can be used again.
//   - Close gives the lock back, too, and ends a Lock that still waits for ours.
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
	return newDriver(inner, mutex, lease), nil
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
