//go:build real

package processes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/postgres"
	"github.com/golang-migrate/migrate/v4/database/sqlite"
	dt "github.com/golang-migrate/migrate/v4/database/testing"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/migrate/migratelock"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// Migrations, each of which writes its version.
var (
	threeSteps = fstest.MapFS{
		"1_table.up.sql": file("CREATE TABLE applied (version INT); INSERT INTO applied VALUES (1)"),
		"2_row.up.sql":   file("INSERT INTO applied VALUES (2)"),
		"3_row.up.sql":   file("INSERT INTO applied VALUES (3)"),
	}
	anIndex = fstest.MapFS{
		"1_table.up.sql": file("CREATE TABLE applied (version INT); INSERT INTO applied VALUES (1)"),
		"2_index.up.sql": file("CREATE INDEX CONCURRENTLY applied_versions ON applied (version)"),
	}
	migrations = map[string]fs.FS{"three steps": threeSteps, "an index": anIndex}
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// driver returns golang-migrate's own driver.
func (d store) driver() (database.Driver, error) {
	db, err := d.open()
	if err != nil {
		return nil, err
	}
	if d.kind == sqliteKind {
		return sqlite.WithInstance(db, &sqlite.Config{})
	}
	return postgres.WithInstance(db, &postgres.Config{})
}

// upWithGolangMigrate tells when it has the lock, and how its migration ends. Its
// arguments are the migrations, and the version after which it stops.
func upWithGolangMigrate(ctx context.Context, s *self) error {
	driver, err := migratelock.Open(ctx, s.client, path, func() (database.Driver, error) {
		s.tell("opening")
		return s.driver()
	})
	if err != nil {
		return err
	}
	files, err := iofs.New(migrations[s.args[0]], ".")
	if err != nil {
		return err
	}
	m, err := migrate.NewWithInstance("iofs", files, s.kind, &stopping{Driver: driver, self: s, after: s.args[1]})
	if err != nil {
		return err
	}
	s.tell("%s", outcomeOf(m.Up()))
	return errors.Join(m.Close())
}

// stopping is a driver that stops after ours has written a version, until the test
// lets it go on.
type stopping struct {
	database.Driver
	self  *self
	after string
}

func (d *stopping) SetVersion(version int, dirty bool) error {
	err := d.Driver.SetVersion(version, dirty)
	written := fmt.Sprint("version ", version)
	if dirty {
		written += ", dirty"
	}
	if err == nil && written == d.after {
		d.self.tell("%s", written)
		d.self.wait()
	}
	return err
}

func outcomeOf(err error) string {
	var lost *migratelock.LostError
	switch {
	case err == nil:
		return "migrated"
	case errors.Is(err, migrate.ErrNoChange):
		return "no change"
	case errors.As(err, &lost) && !lost.Begun:
		return fmt.Sprintf("lost before %d", lost.Version)
	case errors.As(err, &lost):
		return fmt.Sprintf("lost during %d", lost.Version)
	}
	return err.Error()
}

// golang-migrate's own tests of a driver.
func TestConformanceToGolangMigrate(t *testing.T) {
	onEachKind(t, func(t *testing.T, d store) {
		client := curatortest.Connect(t, zktest.Start(t))
		open := func() database.Driver {
			driver, err := migratelock.Open(t.Context(), client, path, d.driver)
			require.NoError(t, err)
			return driver
		}
		driver := open()
		dt.Test(t, driver, []byte("CREATE TABLE t (x INT)"))
		require.NoError(t, driver.Close())

		files, err := iofs.New(threeSteps, ".")
		require.NoError(t, err)
		m, err := migrate.NewWithInstance("iofs", files, d.kind, open())
		require.NoError(t, err)
		dt.TestMigrate(t, m)
		require.NoError(t, errors.Join(m.Close()))
	})
}

// startTwo starts two replicas: one that stops after it has written a version, and
// one that waits for its lock.
func startTwo(t *testing.T, srv *zktest.Server, d store, files, after string) (first, second *process) {
	t.Helper()
	first = start(t, srv, withGolangMigrate, d, files, after)
	require.Equal(t, "opening", first.hear(t))
	require.Equal(t, after, first.hear(t))
	second = start(t, srv, withGolangMigrate, d, files, "")
	require.NoError(t, srv.WaitChildren(t.Context(), path, 2))
	return first, second
}

// One that waited in the database would hold the index up, for which it waits.
func TestReplicasThatWaitDoNotHoldUpAnIndex(t *testing.T) {
	d := newDatabase(t, postgresKind)
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	first, second := startTwo(t, srv, d, "an index", "version 2, dirty")
	first.goOn(t, atOnce)
	require.Equal(t, "migrated", first.hear(t))
	first.end(t)
	require.Equal(t, "opening", second.hear(t))
	require.Equal(t, "no change", second.hear(t))
	second.end(t)
}
