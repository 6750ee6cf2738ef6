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
	steps  steps
}

// steps is what has become of the steps since Lock.
type steps struct {
	begun   bool  // one is under way
	refused bool  // one was refused, so that the loss was told
	overran error // the last one has ended without the lock
}

func newDriver(inner database.Driver, mutex *locks.InterProcessMutex, lease *locks.Lease) *driver {
	d := &driver{inner: inner, mutex: mutex, lease: lease}
	d.life, d.end = context.WithCancel(context.Background())
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
	err := d.inner.SetVersion(version, dirty)
	d.wrote(version, dirty && err == nil)
	return err
}

func (d *driver) Drop() error {
	if err := d.mayWrite(database.NilVersion, true); err != nil {
		return err
	}
	return d.inner.Drop()
}

// mayWrite returns an error if a write would begin a step without the lock. A step
// begins with a dirty version, and ends with a clean one. A clean version outside
// of a step is a step by itself.
func (d *driver) mayWrite(version int, dirty bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.steps.begun && !dirty {
		return nil
	}
	lost := d.lossLocked()
	if lost == nil {
		return nil
	}
	d.steps.refused = true
	return &LostError{Version: version, Err: lost}
}

// wrote notes whether a step is under way after a write.
func (d *driver) wrote(version int, begun bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ended := d.steps.begun && !begun
	d.steps.begun = begun
	if lost := d.lossLocked(); ended && lost != nil {
		d.steps.overran = &LostError{Version: version, Begun: true, Err: lost}
	}
}

// lossLocked returns why the lock was lost, or nil. A driver that is not locked
// has nothing to lose.
func (d *driver) lossLocked() error {
	if !d.locked || d.lease == nil {
		return nil
	}
	return context.Cause(d.lease.Context())
}
