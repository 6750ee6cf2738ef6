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

// lateLock is how long a Lock of both locks may take. It is shorter than
// migrate.DefaultLockTimeout, after which golang-migrate knows nothing of the locks,
// and gives none back. A driver may wait for its lock without end.
const lateLock = 14 * time.Second

// Lock has locked nothing if the other driver panics.
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

// beginLock returns the lease that Open has acquired, if it is still there.
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

// lockBoth takes our lock first, so that waiters wait there. A driver that
// refuses its lock, or panics, gives ours back.
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

// unlockBoth gives the locks back in the opposite order, ours also if the driver
// panics.
func (d *driver) unlockBoth(lease *locks.Lease) (err error) {
	defer func() { err = errors.Join(err, release(lease)) }()
	return d.inner.Unlock()
}

// acquire returns the lease that was kept, unless that was lost meanwhile.
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
	case errors.Is(err, locks.ErrNotAcquired): //nolint:forbidigo // its context has no cause
		return nil, fmt.Errorf("%w: %w", database.ErrLocked, err)
	}
	return lease, err
}

// endLock keeps the lease, nil for none, unless the driver was closed meanwhile.
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

// beginClose ends a Lock that waits for our lock. One that waits for the driver's
// goes on until the driver ends it, and then finds that this one is closed.
func (d *driver) beginClose() (lease *locks.Lease) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end()
	lease, d.lease = d.lease, nil
	return lease
}

// release returns no loss of the lease, which a step tells if it matters.
func release(lease *locks.Lease) error {
	err := lease.Release(context.Background())
	if !errors.Is(context.Cause(lease.Context()), locks.ErrReleased) { //nolint:forbidigo // it is the cause of the lease
		return nil
	}
	return err
}
