package migratelock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/golang-migrate/migrate/v4/database"

	"github.com/gocurator/curator/recipes/locks"
)

var (
	errClosed = errors.New("the driver is closed")
	errLate   = fmt.Errorf("%w: the lock of the database came too late", database.ErrLocked)
)

// lateLock is how long a Lock of both locks may take. lateLock is shorter than
// migrate.DefaultLockTimeout, after which golang-migrate forgets the Lock and would
// never unlock. A driver may wait for its lock without limit.
const lateLock = 14 * time.Second

// Lock holds no lock if the other driver panics.
func (d *driver) Lock() (err error) {
	begun := time.Now()
	kept, err := d.beginLock()
	if err != nil {
		return err
	}
	var lease *locks.Lease // nil unless both locks are held
	defer func() { err = d.endLock(lease, err) }()
	lease, err = d.lockBoth(kept)
	if err == nil && time.Since(begun) >= lateLock {
		late := lease
		lease = nil
		err = errors.Join(errLate, d.unlockBoth(late))
	}
	return err
}

// beginLock returns the lease that Open has acquired, if the driver still has it.
func (d *driver) beginLock() (kept *locks.Lease, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.life.Err() != nil:
		return nil, errClosed
	case d.locked:
		return nil, database.ErrLocked
	}
	kept = d.lease
	d.lease, d.locked, d.begun = nil, true, false
	return kept, nil
}

// lockBoth takes the lock in ZooKeeper first, so that other replicas wait there. If the
// driver refuses its lock or panics, lockBoth releases the lock in ZooKeeper.
func (d *driver) lockBoth(kept *locks.Lease) (both *locks.Lease, err error) {
	lease, err := d.acquire(kept)
	if err != nil {
		return nil, err
	}
	defer func() {
		if both == nil {
			err = errors.Join(err, release(lease))
		}
	}()
	if err := d.inner.Lock(); err != nil {
		return nil, err
	}
	return lease, nil
}

// unlockBoth releases the locks in the opposite order, the lock in ZooKeeper even if
// the driver panics.
func (d *driver) unlockBoth(lease *locks.Lease) (err error) {
	defer func() { err = errors.Join(err, release(lease)) }()
	return d.inner.Unlock()
}

// acquire returns the kept lease. If no lease was kept, or the kept lease was lost,
// acquire returns a new lease.
func (d *driver) acquire(kept *locks.Lease) (*locks.Lease, error) {
	if kept != nil && kept.Context().Err() == nil {
		return kept, nil
	}
	if kept != nil {
		_ = release(kept)
	}
	ctx, done := context.WithTimeout(d.life, lockWait)
	defer done()
	lease, err := d.mutex.Acquire(ctx)
	switch {
	case d.life.Err() != nil && err != nil:
		return nil, errClosed
	case errors.Is(err, locks.ErrNotAcquired): //nolint:forbidigo // the context has no cause
		return nil, fmt.Errorf("%w: %w", database.ErrLocked, err)
	}
	return lease, err
}

// endLock records the lease, which may be nil, unless the driver was closed meanwhile.
func (d *driver) endLock(lease *locks.Lease, err error) error {
	if d.keep(lease) || lease == nil {
		return err
	}
	return errors.Join(errClosed, d.unlockBoth(lease))
}

func (d *driver) keep(lease *locks.Lease) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.locked = lease != nil && d.life.Err() == nil
	if d.locked {
		d.lease = lease
	}
	return d.locked
}

func (d *driver) Unlock() error {
	lease := d.beginUnlock()
	if lease == nil {
		return database.ErrNotLocked
	}
	defer d.endUnlock()
	return d.unlockBoth(lease)
}

func (d *driver) beginUnlock() (lease *locks.Lease) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locked {
		lease, d.lease = d.lease, nil
	}
	return lease
}

func (d *driver) endUnlock() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.locked = false
}

func (d *driver) Close() (err error) {
	if lease := d.beginClose(); lease != nil {
		defer func() { err = errors.Join(err, release(lease)) }()
	}
	return d.inner.Close()
}

// beginClose ends a Lock that waits for the lock in ZooKeeper. A Lock that waits for
// the driver's own lock continues until the inner driver returns, and then finds that
// this driver is closed.
func (d *driver) beginClose() (lease *locks.Lease) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end()
	lease, d.lease = d.lease, nil
	return lease
}

// release ignores a loss of the lease: if the loss matters, a step reports it.
func release(lease *locks.Lease) error {
	err := lease.Release(context.Background())
	if !errors.Is(context.Cause(lease.Context()), locks.ErrReleased) { //nolint:forbidigo // the lease's cause
		return nil
	}
	return err
}
