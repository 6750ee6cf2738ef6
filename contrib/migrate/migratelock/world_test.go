package migratelock_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/stub"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/migrate/migratelock"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

const path = "/migrations/orders"

// base is a database in memory.
type base struct {
	own chan struct{} // the lock of all its drivers; nil if each driver has a separate lock

	mu      sync.Mutex
	version int
	dirty   bool
	applied []int // the steps that have ended
}

func newBase(own bool) *base {
	b := &base{version: database.NilVersion}
	if own {
		b.own = make(chan struct{}, 1)
	}
	return b
}

// now returns the version as text, and the steps that have ended.
func (b *base) now() (version string, applied []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return versionOf(b.version, b.dirty), slices.Clone(b.applied)
}

func versionOf(version int, dirty bool) string {
	if dirty {
		return fmt.Sprintf("%d dirty", version)
	}
	return fmt.Sprint(version)
}

// driver is a driver of the database. A driver calls done after each of its calls.
type driver struct {
	*base
	done func(call string)
	err  error // of Lock
}

func (d *driver) Open(string) (database.Driver, error) { panic("not called") }

func (d *driver) Close() error { d.done("close"); return nil }

func (d *driver) Lock() error {
	if d.own != nil {
		d.own <- struct{}{}
	}
	d.done("lock")
	return d.err
}

func (d *driver) Unlock() error {
	if d.own != nil {
		<-d.own
	}
	d.done("unlock")
	return nil
}

func (d *driver) Run(io.Reader) error { return nil }

func (d *driver) SetVersion(version int, dirty bool) error {
	d.mu.Lock()
	d.version, d.dirty = version, dirty
	if !dirty {
		d.applied = append(d.applied, version)
	}
	d.mu.Unlock()
	d.done(versionOf(version, dirty))
	return nil
}

func (d *driver) Version() (version int, dirty bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.version, d.dirty, nil
}

func (d *driver) Drop() error { d.done("drop"); return nil }

// replica is a process that migrates when it starts.
type replica struct {
	host   *zktest.Host
	client *framework.Client
	driver *driver
	opened database.Driver

	between func(call string) // called when ours has written a version; may be nil
}

// outside is what golang-migrate gets: our driver, which tells what it has done.
type outside struct {
	database.Driver
	between func(call string)
}

func (d outside) SetVersion(version int, dirty bool) error {
	err := d.Driver.SetVersion(version, dirty)
	if d.between != nil {
		d.between("after " + versionOf(version, dirty))
	}
	return err
}

// newReplica returns a replica whose driver calls done, which may be nil.
func newReplica(t *testing.T, srv *zktest.Server, b *base, done func(call string)) *replica {
	t.Helper()
	if done == nil {
		done = func(string) {}
	}
	host := srv.NewHost()
	client := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
	return &replica{host: host, client: client, driver: &driver{base: b, done: done}}
}

// open returns the error of Open.
func (r *replica) open(ctx context.Context) (err error) {
	r.opened, err = migratelock.Open(ctx, r.client, path, func() (database.Driver, error) {
		r.driver.done("open")
		return r.driver, nil
	})
	return err
}

func (r *replica) mustOpen(t *testing.T) {
	t.Helper()
	require.NoError(t, r.open(bounded(t)))
}

// up migrates to version 3, in three steps.
func (r *replica) up() error {
	m, err := r.migration()
	if err != nil {
		return err
	}
	return m.Up()
}

// migrate is migration for the goroutine of the test.
func (r *replica) migrate(t *testing.T) *migrate.Migrate {
	t.Helper()
	m, err := r.migration()
	require.NoError(t, err)
	return m
}

// migration returns what migrates the replica. Its migrations are empty: golang-migrate
// leaves the goroutine behind that reads a migration which is not run.
func (r *replica) migration() (*migrate.Migrate, error) {
	files := source.NewMigrations()
	for version := range uint(3) {
		files.Append(&source.Migration{Version: version + 1, Direction: source.Down})
	}
	return migrate.NewWithInstance("stub", &stub.Stub{Migrations: files}, "fake", outside{r.opened, r.between})
}

// lose cuts a replica off until it knows that its lock is lost, and others can
// have it.
func (r *replica) lose() {
	r.host.Isolate()
	time.Sleep(2 * time.Minute)
}

// bounded returns a context that lasts longer than any wait of a test.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 24*time.Hour)
	t.Cleanup(cancel)
	return ctx
}
