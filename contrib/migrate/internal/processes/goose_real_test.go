//go:build real

package processes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
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

// provider returns a provider of three migrations.
func (d store) provider(db *sql.DB, during func(context.Context) error) (*goose.Provider, error) {
	dialect := map[string]goose.Dialect{sqliteKind: goose.DialectSQLite3, postgresKind: goose.DialectPostgres}[d.kind]
	return goose.NewProvider(dialect, db, gooseFiles, goose.WithGoMigrations(secondStep(during)))
}

// upWithGoose tells when it has the lock, and how its migration ends. If its
// argument says so, it stops in its second step until its context ends.
func upWithGoose(ctx context.Context, s *self) error {
	db, err := s.open()
	if err != nil {
		return err
	}
	defer db.Close()
	provider, err := s.provider(db, func(ctx context.Context) error {
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
	err = locks.NewInterProcessMutex(s.client, path).Do(ctx, func(ctx context.Context) (err error) {
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
