//go:build real

package processes

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"testing"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/postgres"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/migrate/migratelock"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// golangMigrate is what README tells people to write.
func golangMigrate(ctx context.Context, client *framework.Client, db *sql.DB, files source.Driver) error {
	driver, err := migratelock.Open(ctx, client, "/migrations/orders", func() (database.Driver, error) {
		return postgres.WithInstance(db, &postgres.Config{})
	})
	if err != nil {
		return err
	}
	m, err := migrate.NewWithInstance("iofs", files, "postgres", driver)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := m.Up(); !errors.Is(err, migrate.ErrNoChange) {
		return err
	}
	return nil
}

// gooseUp is the other half.
func gooseUp(ctx context.Context, client *framework.Client, db *sql.DB, files fs.FS) error {
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files)
	if err != nil {
		return err
	}
	lock := locks.NewInterProcessMutex(client, "/migrations/orders")
	return lock.Do(ctx, func(ctx context.Context) error {
		_, err := provider.Up(ctx) // ctx ends if the lock is lost
		return err
	})
}

func TestCodeOfTheReadme(t *testing.T) {
	client := curatortest.Connect(t, zktest.Start(t))
	d := newDatabase(t, postgresKind)
	for range 2 {
		files, err := iofs.New(threeSteps, ".")
		require.NoError(t, err)
		require.NoError(t, golangMigrate(t.Context(), client, d.mustOpen(t), files))
	}
	require.Equal(t, []int{1, 2, 3}, d.applied(t))

	d = newDatabase(t, postgresKind)
	for range 2 {
		require.NoError(t, gooseUp(t.Context(), client, d.mustOpen(t), gooseFiles))
	}
	require.Equal(t, []int{1, 3}, d.applied(t))
}
