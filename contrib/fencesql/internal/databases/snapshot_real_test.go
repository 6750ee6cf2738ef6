//go:build real

package databases

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/fencesql"
)

// token is a lease that needs no server.
type token int64

func (t token) Context() context.Context { return context.Background() }
func (t token) FencingToken() int64      { return int64(t) }
func (t token) Path() string             { return "/lock/of-a-test" }

// A transaction reads before it raises the token, and its predecessor writes in between.
// MySQL lets the transaction go on with what it has read. So Raise is refused on MySQL.
// Postgres and SQLite end the transaction.
func TestRaiseAfterTheSnapshot(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		ctx, w := within(t), newWorld(t, k)
		level := sql.LevelRepeatableRead
		if k.dialect == fencesql.SQLite {
			level = sql.LevelDefault
		}
		err := transaction(ctx, w, level, func(tx *sql.Tx) error {
			var rows int
			require.NoError(t, tx.QueryRow("SELECT count(*) FROM ledger").Scan(&rows))
			_, err := w.guards().Exec(ctx, w.db, token(5), "ledger", w.text(addToLedger), 5)
			require.NoError(t, err)
			if err := w.guards().Upsert(ctx, tx, token(7), []string{"resource"}, []any{"ledger"}); err != nil {
				return err
			}
			require.NoError(t, tx.QueryRow("SELECT count(*) FROM ledger").Scan(&rows))
			require.Zero(t, rows, "the row of the predecessor")
			return nil
		})
		switch k.dialect {
		case fencesql.Postgres:
			require.ErrorContains(t, err, "could not serialize access")
		case fencesql.MySQL:
			if err != nil { // MariaDB from 11.6.2 is like Postgres
				require.ErrorContains(t, err, "Record has changed since last read")
			}
		case fencesql.SQLite:
			require.ErrorContains(t, err, "database is locked")
		}
	})
}

// Promise: the function of Within reads what the predecessor has written, also if it
// was committed while Within waited for the guard row.
func TestWithinReadsWhatThePredecessorWrote(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		if k.dialect == fencesql.SQLite {
			return // a file has one writer, so that nothing waits in the database
		}
		ctx, w := within(t), newWorld(t, k)
		done := make(chan error, 1)
		err := w.guards().Within(ctx, w.db, token(5), "ledger", func(tx *sql.Tx) error {
			go func() {
				done <- w.guards().Within(ctx, w.db, token(7), "ledger", func(tx *sql.Tx) error {
					var rows int
					if err := tx.QueryRow("SELECT count(*) FROM ledger").Scan(&rows); err != nil || rows != 1 {
						return fmt.Errorf("%d rows: %w", rows, err)
					}
					return nil
				})
			}()
			w.untilBlocked(t)
			_, err := tx.Exec(w.text(addToLedger), 5)
			return err
		})
		require.NoError(t, err)
		require.NoError(t, <-done)
	})
}

// Exec waits for the guard row before it locks any other, as Within does. In the other
// order, two holders could wait for each other.
func TestExecLocksTheGuardRowFirst(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		if k.dialect == fencesql.SQLite {
			return // it locks the file
		}
		ctx, w := within(t), newWorld(t, k)
		done := make(chan error, 1)
		err := w.guards().Within(ctx, w.db, token(5), "ledger", func(tx *sql.Tx) error {
			go func() {
				_, err := w.guards().Exec(ctx, w.db, token(5), "ledger", "UPDATE register SET value = 'executed' WHERE id = 1")
				done <- err
			}()
			w.untilBlocked(t)
			_, err := tx.Exec("UPDATE register SET value = 'within' WHERE id = 1") // a deadlock in the other order
			return err
		})
		require.NoError(t, err)
		require.NoError(t, <-done)
		var now string
		require.NoError(t, w.db.QueryRow("SELECT value FROM register").Scan(&now))
		require.Equal(t, "executed", now)
	})
}

// A row that has the values already is no missing row, also where the database does not
// count it.
func TestUpdateThatChangesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		ctx, w := within(t), newWorld(t, k)
		for range 2 {
			require.NoError(t, w.registers().Update(ctx, w.db, token(5), 1, w.text("value = $1"), "same"))
			require.NoError(t, w.registers().Upsert(ctx, w.db, token(5), []string{"id", "value"}, []any{1, "same"}))
		}
		require.ErrorIs(t, w.registers().Update(ctx, w.db, token(5), 2, w.text("value = $1"), "same"), sql.ErrNoRows)
	})
}

// Promise: an error names both tokens and both holders, whatever refuses the write.
func TestRefusalNamesBothHolders(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		ctx, w := within(t), newWorld(t, k)
		for _, way := range w.having(fenced) {
			require.NoError(t, way.write(ctx, w, lease{token(7), func() {}}), way.name)
			err := way.write(ctx, w, lease{token(5), func() {}})
			var stale *fencesql.StaleError
			require.ErrorAs(t, err, &stale, way.name)
			require.Equal(t, fencesql.StaleError{Token: 5, Owner: "/lock/of-a-test", NewestToken: 7, NewestOwner: "/lock/of-a-test"}, *stale)
		}
		require.EqualValues(t, 0, w.number(t, "SELECT count(*) FROM ledger WHERE token = 5"))
	})
}
