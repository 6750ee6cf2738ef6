//go:build real

package databases

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/fencesql"
)

// Promise: each name is a separate resource, in any case and any language, and so is
// each path of a lease.
func TestResourcesAreToldApart(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		ctx, w := within(t), newWorld(t, k)
		for i, resource := range []string{"bank", "Bank", "банк", "банка", "銀行", "🏦", "bänk", "bank'; --"} {
			l := at{token(10 - i), "/locks/" + resource}
			require.NoError(t, w.guards().Upsert(ctx, w.db, l, []string{"resource"}, []any{resource}), resource)
			require.NoError(t, w.guards().Within(ctx, w.db, l, resource, func(*sql.Tx) error { return nil }), resource)
			err := w.guards().Within(ctx, w.db, token(1), resource, nil)
			var stale *fencesql.StaleError
			require.ErrorAs(t, err, &stale)
			require.Equal(t, l.path, stale.NewestOwner)
		}
	})
}

// at is a lease with a path.
type at struct {
	token
	path string
}

func (l at) Path() string { return l.path }

// between is a DB on which other clients act ahead of each statement.
type between struct {
	fencesql.DB
	act func()
}

func (b between) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	b.act()
	return b.DB.ExecContext(ctx, query, args...)
}

func (b between) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	b.act()
	return b.DB.QueryRowContext(ctx, query, args...)
}

// Promise: an Update that returns nil has written its row, whatever happens to the row
// between its statements.
func TestUpdateOfARowThatComesAndGoes(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		ctx, w := within(t), newWorld(t, k)
		there := false
		db := between{w.db, func() {
			query := "DELETE FROM register WHERE id = 3"
			if there = !there; !there {
				query = "INSERT INTO register (id, value) VALUES (3, 'new')"
			}
			execute(t, k.driver, w.dsn, query)
		}}
		require.ErrorIs(t, w.registers().Update(ctx, db, token(5), 3, w.text("value = $1"), "written"), sql.ErrNoRows)
		require.EqualValues(t, 1, w.number(t, "SELECT count(*) FROM register WHERE value = 'new'"))
	})
}

// Promise: a batch that the database ends because of a deadlock has no effect.
func TestBatchInADeadlock(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		if k.dialect == fencesql.SQLite {
			return // it locks the file
		}
		ctx, w := within(t), newWorld(t, k)
		columns := []string{"id", "value"}
		require.NoError(t, w.registers().Upsert(ctx, w.db, token(5), columns, []any{2, ""}))
		done := make(chan error, 1)
		err := transaction(ctx, w, sql.LevelReadCommitted, func(tx *sql.Tx) error {
			require.NoError(t, w.registers().Upsert(ctx, tx, token(5), columns, []any{2, "single"}))
			go func() {
				done <- w.registers().Upsert(ctx, w.db, token(5), columns, []any{1, "batch"}, []any{2, "batch"}, []any{3, "batch"})
			}()
			w.untilBlocked(t)
			return w.registers().Upsert(ctx, tx, token(5), columns, []any{1, "single"})
		})
		batch := <-done
		require.Equal(t, 1, len(slices.DeleteFunc([]error{err, batch}, func(err error) bool { return err == nil })), "a deadlock ends one: %v, %v", err, batch)
		require.NotErrorIs(t, errors.Join(err, batch), fencesql.ErrStale)
		if batch == nil {
			require.EqualValues(t, 3, w.number(t, "SELECT count(*) FROM register WHERE value = 'batch'"))
		} else {
			require.EqualValues(t, 2, w.number(t, "SELECT count(*) FROM register WHERE value = 'single'"))
			require.EqualValues(t, 2, w.number(t, "SELECT count(*) FROM register"))
		}
	})
}
