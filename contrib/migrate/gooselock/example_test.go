package gooselock_test

import (
	"context"
	"database/sql"
	"io/fs"

	"github.com/pressly/goose/v3"

	"github.com/gocurator/curator/contrib/migrate/gooselock"
	"github.com/gocurator/curator/framework"
)

// A replica migrates its database when it starts, and stops if it loses its lock.
func ExampleLocker_Do() {
	up := func(ctx context.Context, client *framework.Client, db *sql.DB, files fs.FS) error {
		locker := gooselock.New(client, "/migrations/orders")
		provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithLocker(locker))
		if err != nil {
			return err
		}
		return locker.Do(ctx, func(ctx context.Context) error {
			_, err := provider.Up(ctx) // ctx ends if the lock is lost
			return err
		})
	}
	_ = up // its arguments are the service's
}
