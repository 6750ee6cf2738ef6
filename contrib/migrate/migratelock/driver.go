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

// driver gives another driver a mutex, and takes both locks.
type driver struct {
	inner database.Driver
	mutex *locks.InterProcessMutex

	life context.Context // Close ends it
	end  context.CancelFunc

	mu     sync.Mutex   // protects the following fields
	lease  *locks.Lease // nil if there is none; it may be lost
	locked bool         // Lock has begun, and Unlock has not ended
	begun  bool         // a step is under way
}

// newDriver returns a driver that acquires its lock with the values of ctx, but not
// until that ends.
func newDriver(ctx context.Context, inner database.Driver, mutex *locks.InterProcessMutex, lease *locks.Lease) *driver {
	d := &driver{inner: inner, mutex: mutex, lease: lease}
	d.life, d.end = context.WithCancel(context.WithoutCancel(ctx))
	return d
}

// Open is for drivers that golang-migrate finds by the scheme of a URL.
func (d *driver) Open(string) (database.Driver, error) {
	return nil, fmt.Errorf("a driver with a lock on ZooKeeper has no URL: %w", errors.ErrUnsupported)
}

func (d *driver) Version() (version int, dirty bool, err error) { return d.inner.Version() }

// Run is the middle of a step, which SetVersion has begun.
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
// begins with a dirty version, and ends with a clean one. A clean version outside
// of a step is a step by itself.
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

// wrote notes whether a step is under way after a write, and returns the error of
// the write. If a step has ended without the lock, that is an error: of the step,
// and not of Unlock, after which golang-migrate would refuse all further calls.
func (d *driver) wrote(version int, dirty bool, err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = dirty && err == nil
	if lost := d.lossLocked(); lost != nil && !dirty && err == nil {
		return &LostError{Version: version, Begun: true, Err: lost}
	}
	return err
}

// lossLocked returns why the lock was lost, or nil. A driver that is not locked
// has nothing to lose.
func (d *driver) lossLocked() error {
	if !d.locked || d.lease == nil {
		return nil
	}
	return context.Cause(d.lease.Context())
}
