package fencesql_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/fencesql"
)

// Promise: keys, owners and values are parameters, and never part of the SQL text.
func TestParametersAreNotText(t *testing.T) {
	const hostile = "'); DROP TABLE fence; --\"`\\"
	db := newDatabase(t)
	l := named{held(5), hostile}
	require.NoError(t, registers.Update(t.Context(), db, l, 1, "value = ?", hostile))
	require.NoError(t, guards.Upsert(t.Context(), db, l, []string{"resource"}, []any{hostile}))
	_, err := guards.Exec(t.Context(), db, l, hostile, "UPDATE register SET value = ?", hostile)
	require.NoError(t, err)
	err = guards.Upsert(t.Context(), db, held(4), []string{"resource"}, []any{hostile})
	require.EqualError(t, err, "stale fencing token: 4 of /lock/of-e, after 5 of "+hostile)
	require.Equal(t, hostile, value(t, db))
}

type named struct {
	lease
	path string
}

func (n named) Path() string { return n.path }

// Names are part of the text as they are, whatever they contain between quotes.
func TestQuotedNames(t *testing.T) {
	db := newDatabase(t)
	_, err := db.Exec(`CREATE TABLE "a%b" ("k%d" INTEGER PRIMARY KEY, "share%s" INTEGER, fence_token INTEGER NOT NULL, fence_owner TEXT NOT NULL)`)
	require.NoError(t, err)
	table := fencesql.Table{Dialect: fencesql.SQLite, Name: `"a%b"`, Key: `"k%d"`}
	require.NoError(t, table.Upsert(t.Context(), db, held(5), []string{`"k%d"`, `"share%s"`}, []any{1, 10}))
	require.NoError(t, table.Update(t.Context(), db, held(7), 1, `"share%s" = ?`, 20))
	require.ErrorIs(t, table.Upsert(t.Context(), db, held(6), []string{`"k%d"`, `"share%s"`}, []any{1, 30}), fencesql.ErrStale)
}

// Promise: a comment at the end of the assignments or of the query leaves the fence in
// its statement.
func TestCommentLeavesTheFence(t *testing.T) {
	db := newDatabase(t)
	update := func(token int64) error {
		return registers.Update(context.Background(), db, held(token), 1, "value = ? -- the new one", "x")
	}
	require.NoError(t, update(7))
	require.ErrorIs(t, update(6), fencesql.ErrStale)
	require.ErrorContains(t, registers.Update(t.Context(), db, held(7), 42, "value = ? -- of no row", "y"), "no rows")
	require.Equal(t, "x", value(t, db))
}
