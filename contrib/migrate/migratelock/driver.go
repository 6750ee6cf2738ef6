package migratelock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/golang-migrate/migrate/v4/database"

	"github.com/gocurator/curator/recipes/locks"
)

// driver adds a mutex to another driver, and takes both locks.
type driver struct {
	inner database.Driver
	mutex *locks.InterProcessMutex

	life context.Context // Close ends it
	end  context.CancelFunc

	mu     sync.Mutex   // protects the following fields
	lease  *locks.Lease // may be lost; nil if there is none
	locked bool         // Lock has begun, and Unlock has not ended
	begun  bool         // a step is under way
}

// newDriver returns a driver that acquires its lock with the values of ctx, but ignores
// the end of ctx.
func newDriver(ctx context.Context, inner database.Driver, mutex *locks.InterProcessMutex, lease *locks.Lease) *driver {
	d := &driver{inner: inner, mutex: mutex, lease: lease}
	d.life, d.end = context.WithCancel(context.WithoutCancel(ctx))
	return d
}

// Open returns an error: golang-migrate calls Open only for a driver found by the
// scheme of a URL.
func (d *driver) Open(string) (database.Driver, error) {
	return nil, fmt.Errorf("a driver with a lock on ZooKeeper has no URL: %w", errors.ErrUnsupported)
}

func (d *driver) Version() (version int, dirty bool, err error) { return d.inner.Version() }

// Run executes the middle of a step, which SetVersion has begun.
func (d *driver) Run(migration io.Reader) error { return d.inner.Run(migration) }

func (d *driver) SetVersion(version int, dirty bool) error {
	if err := d.mayWrite(version, dirty); err != nil {
		return err
	}
	return d.wrote(version, dirty, d.inner.SetVersion(version, dirty))
}

func (d *driver) Drop() error {
	if err := d.mayWrite(database.NilVersion, true); err != nil {
		return err
	}
	return d.wrote(database.NilVersion, false, d.inner.Drop())
}

// mayWrite returns an error if a write would begin a step without the lock. A step
// begins by writing a dirty version and ends by writing a clean one. Outside a step,
// writing a clean version is a step by itself.
func (d *driver) mayWrite(version int, dirty bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begun && !dirty {
		return nil
	}
	lost := d.lossLocked()
	if lost == nil {
		return nil
	}
	return &LostError{Version: version, Err: lost}
}

// wrote records whether a step is under way after a write, and returns the error of the
// write. If a step has ended without the lock, wrote returns an error. Unlock must not
// return that error, because golang-migrate would then refuse all further calls.
func (d *driver) wrote(version int, dirty bool, err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = dirty && err == nil
	if lost := d.lossLocked(); lost != nil && !dirty && err == nil {
		return &LostError{Version: version, Begun: true, Err: lost}
	}
	return err
}

// lossLocked returns why the lock was lost, or nil. If the driver is not locked,
// lossLocked returns nil.
func (d *driver) lossLocked() error {
	if !d.locked || d.lease == nil {
		return nil
	}
	return context.Cause(d.lease.Context())
}
