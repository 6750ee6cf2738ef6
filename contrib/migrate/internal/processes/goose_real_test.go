//go:build real

package processes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock/locktesting"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/migrate/gooselock"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// gooseFiles are the first and the last migration.
var gooseFiles = fstest.MapFS{
	"1_table.sql": file("-- +goose Up\nCREATE TABLE applied (version INT); INSERT INTO applied VALUES (1);"),
	"3_row.sql":   file("-- +goose Up\nINSERT INTO applied VALUES (3);"),
}

// secondStep is the second migration. It calls during before it ends.
func secondStep(during func(ctx context.Context) error) *goose.Migration {
	return goose.NewGoMigration(2, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO applied VALUES (2)"); err != nil {
			return err
		}
		return during(ctx)
	}}, nil)
}

func nothing(context.Context) error { return nil }

// provider returns a provider of three migrations.
func (d store) provider(db *sql.DB, locker *gooselock.Locker, during func(context.Context) error) (*goose.Provider, error) {
	dialect := map[string]goose.Dialect{sqliteKind: goose.DialectSQLite3, postgresKind: goose.DialectPostgres}[d.kind]
	return goose.NewProvider(dialect, db, gooseFiles, goose.WithGoMigrations(secondStep(during)), goose.WithLocker(locker))
}

// upWithGoose tells when it has the lock, and how its migration ends. If its
// argument says so, it stops in its second step until its context ends.
func upWithGoose(ctx context.Context, s *self) error {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer db.Close()
	locker := gooselock.New(s.client, path)
	provider, err := s.provider(db, locker, func(ctx context.Context) error {
		if s.args[0] != "stops" {
			return nil
		}
		s.tell("second step")
		<-ctx.Done()
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	var applied []*goose.MigrationResult
	err = locker.Do(ctx, func(ctx context.Context) (err error) {
		s.tell("locked")
		applied, err = provider.Up(ctx)
		return err
	})
	s.tell("%s", outcomeOfGoose(len(applied), err))
	return nil
}

func outcomeOfGoose(applied int, err error) string {
	switch {
	case err == nil:
		return fmt.Sprintf("%d applied", applied)
	case errors.Is(err, framework.ErrSessionLost):
		return "stopped"
	}
	return err.Error()
}

func TestGooseOnce(t *testing.T) {
	onEachKind(t, func(t *testing.T, d store) {
		srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
		var all []*process
		for range 3 {
			all = append(all, start(t, srv, withGoose, d, ""))
		}
		var outcomes []string
		for _, p := range all {
			require.Equal(t, "locked", p.hear(t))
			outcomes = append(outcomes, p.hear(t))
			p.end(t)
		}
		slices.Sort(outcomes)
		require.Equal(t, []string{"0 applied", "0 applied", "3 applied"}, outcomes)
		require.Equal(t, []int{1, 2, 3}, d.applied(t))
	})
}

// The step under way is rolled back, and the next replica runs it.
func TestGooseThatLosesItsLockStops(t *testing.T) {
	onEachKind(t, func(t *testing.T, d store) {
		srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
		first := start(t, srv, withGoose, d, "stops")
		require.Equal(t, "locked", first.hear(t))
		require.Equal(t, "second step", first.hear(t))
		second := start(t, srv, withGoose, d, "")
		require.NoError(t, srv.WaitChildren(t.Context(), path, 2))

		require.True(t, srv.Session(first.session).Expire())
		require.Equal(t, "stopped", first.hear(t))
		first.end(t)
		require.Equal(t, "locked", second.hear(t))
		require.Equal(t, "2 applied", second.hear(t))
		second.end(t)
		require.Equal(t, []int{1, 2, 3}, d.applied(t))
	})
}

// goose's own test of lockers. It needs the version table, which goose makes
// without a lock.
func TestConformanceToGoose(t *testing.T) {
	onEachKind(t, func(t *testing.T, d store) {
		client := curatortest.Connect(t, zktest.Start(t))
		newProvider := func(t *testing.T) *goose.Provider {
			p, err := d.provider(d.mustOpen(t), gooselock.New(client, path), nothing)
			require.NoError(t, err)
			return p
		}
		_, err := newProvider(t).GetDBVersion(t.Context())
		require.NoError(t, err)
		locktesting.TestProviderLocking(t, newProvider)
	})
}

// Without Do, a provider hears of a loss at its end.
func TestGooseOutsideOfDoGoesOnAndIsToldOfTheLoss(t *testing.T) {
	d := newDatabase(t, sqliteKind)
	client := curatortest.Connect(t, zktest.Start(t))
	p, err := d.provider(d.mustOpen(t), gooselock.New(client, path), func(context.Context) error { return client.Close() })
	require.NoError(t, err)
	applied, err := p.Up(t.Context())
	require.ErrorIs(t, err, framework.ErrClosed)
	require.Len(t, applied, 3)
}
