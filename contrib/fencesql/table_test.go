package fencesql_test

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/locks"
)

var _ fencesql.Lease = (*locks.Lease)(nil)

// Promise: a write under a lease whose token is smaller than one that has written
// before changes nothing, and its error names both tokens and both holders.
func TestStaleWriteIsRefused(t *testing.T) {
	for name, write := range ways {
		t.Run(name, func(t *testing.T) {
			db := newDatabase(t)
			require.NoError(t, write(db, held(5), "first"))
			require.NoError(t, write(db, held(7), "second"))

			err := write(db, held(6), "late")
			require.ErrorIs(t, err, fence.ErrStale)
			require.EqualError(t, err, "stale fencing token: 6 of /lock/of-g, after 7 of /lock/of-h")
			var stale *fencesql.StaleError
			require.ErrorAs(t, err, &stale)
			require.Equal(t, fencesql.StaleError{Token: 6, Owner: "/lock/of-g", NewestToken: 7, NewestOwner: "/lock/of-h"}, *stale)
			require.Equal(t, "second", value(t, db))
		})
	}
}

// Promise: a holder writes as often as it likes, and so do leases that share its token.
// A refusal leaves the holder's token as it is.
func TestEqualTokenIsAdmitted(t *testing.T) {
	for name, write := range ways {
		t.Run(name, func(t *testing.T) {
			db := newDatabase(t)
			require.NoError(t, write(db, held(5), "first"))
			require.NoError(t, write(db, held(5), "first"), "the same value")
			require.ErrorIs(t, write(db, held(4), "late"), fencesql.ErrStale)
			require.NoError(t, write(db, held(5), "again"))
			require.Equal(t, "again", value(t, db))
		})
	}
}

// Promise: no statement is sent under a lease that has ended, even if it ended while the
// write waited for a connection of the pool.
func TestEndedLeaseSendsNothing(t *testing.T) {
	ways := maps.Clone(ways)
	delete(ways, "raise") // its caller has begun the transaction
	ways["exec on Postgres"] = func(db *sql.DB, l fencesql.Lease, _ string) error {
		table := fencesql.Table{Dialect: fencesql.Postgres, Name: "fence", Key: "resource"}
		_, err := table.Exec(context.Background(), db, l, "register", "DELETE FROM register")
		return err
	}
	for name, write := range ways {
		synctest.Test(t, func(t *testing.T) {
			c, db := newConnector(t)
			db.SetMaxOpenConns(1)
			require.EqualError(t, write(db, lost(5), "late"), "fencesql: the lease of /lock/of-f has ended: lost", name)

			conn, err := db.Conn(t.Context())
			require.NoError(t, err)
			ctx, lose := context.WithCancelCause(t.Context())
			done := make(chan error, 1)
			go func() { done <- write(db, lease{ctx, 5}, "late") }()
			synctest.Wait()
			lose(errLost)
			require.NoError(t, conn.Close())
			require.ErrorIs(t, <-done, errLost, name)
			require.Zero(t, c.statements, name)
		})
	}
	db := newDatabase(t)
	tx, err := db.Begin()
	require.NoError(t, err)
	require.NoError(t, tx.Rollback())
	require.ErrorIs(t, guards.Raise(t.Context(), tx, lost(5), "register"), errLost)
}

// A context's cause may be the refusal of another write, which errgroup hands on. The
// resource of this write has refused nothing.
//
// Promise: a write that its context or the end of its lease has stopped does not match ErrStale.
func TestRefusalOfAnotherWriteIsNotStale(t *testing.T) {
	refused := &fencesql.StaleError{Token: 1, NewestToken: 2}
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.Join(errLost, refused))
	db := newDatabase(t)
	ended := map[string]error{
		"context of an update": registers.Update(ctx, db, held(5), 1, "value = 'late'"),
		"context of an upsert": registers.Upsert(ctx, db, held(5), []string{"id", "value"}, []any{1, "late"}),
		"context of within":    guards.Within(ctx, db, held(5), "register", func(*sql.Tx) error { return nil }),
		"context of a store":   guards.Store(db).Raise(ctx, "/lock", held(5)),
	}
	for name, write := range ways {
		err := write(db, lease{ctx, 5}, "late")
		require.ErrorIs(t, err, errLost, name)
		require.ErrorContains(t, err, "fencesql: the lease of /lock/of-f has ended: ", name)
		ended["lease of "+name] = err
	}
	for name, err := range ended {
		require.Error(t, err, name)
		require.NotErrorIs(t, err, fencesql.ErrStale, name)
		var stale *fencesql.StaleError
		require.NotErrorAs(t, err, &stale, name)
		require.Empty(t, fence.Reason(err), name)
	}
	require.Empty(t, value(t, db))
}

// Promise: Within rolls back if its function fails or panics, or if the lease ends
// while the function runs.
func TestWithinRollsBack(t *testing.T) {
	db := newDatabase(t)
	ctx, lose := context.WithCancelCause(t.Context())
	broken := errors.New("broken")
	within := func(l lease, end func() error) error {
		return guards.Within(t.Context(), db, l, "register", func(tx *sql.Tx) error {
			_, err := tx.Exec("UPDATE register SET value = 'written'")
			return errors.Join(err, end())
		})
	}
	require.ErrorIs(t, within(held(5), func() error { return broken }), broken)
	require.PanicsWithValue(t, "broken", func() { _ = within(held(6), func() error { panic("broken") }) })
	require.ErrorIs(t, within(lease{ctx, 7}, func() error { lose(errLost); return nil }), errLost)
	require.Empty(t, value(t, db))
	require.NoError(t, within(held(1), func() error { return nil }), "the tokens of the others were rolled back, too")
	require.Equal(t, "written", value(t, db))
}

// Promise: a batch is written as a whole, or not at all.
func TestBatchIsAllOrNone(t *testing.T) {
	db := newDatabase(t)
	columns := []string{"id", "value"}
	require.NoError(t, registers.Upsert(t.Context(), db, held(7), columns, []any{2, "second"}))
	err := registers.Upsert(t.Context(), db, held(6), columns, []any{1, "late"}, []any{2, "late"}, []any{3, "late"})
	require.EqualError(t, err, "stale fencing token: 6 of /lock/of-g, after 7 of /lock/of-h")
	require.Empty(t, value(t, db))
	var rows int
	require.NoError(t, db.QueryRow("SELECT count(*) FROM register").Scan(&rows))
	require.Equal(t, 2, rows)
}

func TestExecCountsRows(t *testing.T) {
	db := newDatabase(t)
	rows, err := guards.Exec(t.Context(), db, held(5), "register", "INSERT INTO register (id, value) VALUES (?, ?), (?, ?)", 8, "a", 9, "b")
	require.NoError(t, err)
	require.EqualValues(t, 2, rows)
	rows, err = guards.Exec(t.Context(), db, held(5), "register", "DELETE FROM register WHERE id = 10")
	require.NoError(t, err)
	require.Zero(t, rows)
	_, err = guards.Exec(t.Context(), db, held(6), "register", "INSERT INTO register (id) VALUES (9)")
	require.ErrorContains(t, err, "UNIQUE")
	_, err = guards.Exec(t.Context(), db, held(5), "register", "DELETE FROM register")
	require.NoError(t, err, "a statement that fails does not raise the token")
}

func TestUpdateOfNoRow(t *testing.T) {
	db := newDatabase(t)
	err := registers.Update(t.Context(), db, held(5), 42, "value = ?", "x")
	require.ErrorIs(t, err, sql.ErrNoRows)
	require.EqualError(t, err, "fencesql: register 42: sql: no rows in result set")
}

// A token that is NULL, against the schema, fences nothing. So no write passes it.
func TestRowWithoutTokenIsRefused(t *testing.T) {
	for _, way := range []string{"update", "upsert", "batch"} {
		t.Run(way, func(t *testing.T) {
			db := newDatabase(t)
			_, err := db.Exec("UPDATE register SET fence_token = NULL")
			require.NoError(t, err)
			require.ErrorIs(t, ways[way](db, held(5), "first"), fencesql.ErrStale)
			require.Empty(t, value(t, db))
		})
	}
}

// An owner that is NULL, against the schema, does not hide the tokens.
func TestRowWithoutOwnerIsFenced(t *testing.T) {
	for _, way := range []string{"update", "upsert", "batch"} {
		t.Run(way, func(t *testing.T) {
			db := newDatabase(t)
			_, err := db.Exec("UPDATE register SET fence_token = 7, fence_owner = NULL")
			require.NoError(t, err)
			var stale *fencesql.StaleError
			require.ErrorAs(t, ways[way](db, held(5), "late"), &stale)
			require.Equal(t, fencesql.StaleError{Token: 5, Owner: "/lock/of-f", NewestToken: 7}, *stale)
			require.NoError(t, ways[way](db, held(8), "next"))
		})
	}
}

// Promise: a lease without a token is refused. A new row has the token 0, which two
// such leases would pass.
func TestTokenThatIsNotPositiveIsRefused(t *testing.T) {
	for name, write := range ways {
		t.Run(name, func(t *testing.T) {
			db := newDatabase(t)
			for _, token := range []int64{0, -1} {
				require.ErrorContains(t, write(db, held(token), "unfenced"), "is not a fencing token")
			}
			require.Empty(t, value(t, db))
			require.NoError(t, write(db, held(math.MaxInt64), "last"))
			require.ErrorIs(t, write(db, held(math.MaxInt64-1), "late"), fencesql.ErrStale)
		})
	}
}

// MySQL does not tell whether a transaction would read from an old snapshot.
func TestRaiseIsRefusedOnMySQL(t *testing.T) {
	table := fencesql.Table{Dialect: fencesql.MySQL, Name: "fence", Key: "resource"}
	require.ErrorContains(t, table.Raise(t.Context(), nil, held(5), "register"), "use Within")
}

func TestUpsertOfWrongRows(t *testing.T) {
	db := newDatabase(t)
	for text, rows := range map[string][][]any{"there must be a row": nil, "a row has 1 values": {{1}}} {
		require.ErrorContains(t, registers.Upsert(t.Context(), db, held(5), []string{"id", "value"}, rows...), text)
	}
	require.ErrorContains(t, registers.Upsert(t.Context(), db, held(5), []string{"value"}, []any{"x"}), "the column id")
}
