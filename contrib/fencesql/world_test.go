package fencesql_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/internal/recipetest"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

// lease is a lease of a lock that needs no server.
type lease struct {
	ctx   context.Context
	token int64
}

func (l lease) Context() context.Context { return l.ctx }
func (l lease) FencingToken() int64      { return l.token }
func (l lease) Path() string             { return "/lock/of-" + string(rune('a'+l.token%26)) }

func held(token int64) lease { return lease{context.Background(), token} }

var errLost = errors.New("lost")

func lost(token int64) lease {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errLost)
	return lease{ctx, token}
}

func newDatabase(t *testing.T) *sql.DB {
	t.Helper()
	db, _ := newFile(t)
	return db
}

// newFile is a database that has the schema of this package, and a register, which is a
// table of the user's data with one row.
func newFile(t *testing.T) (db *sql.DB, dsn string) {
	t.Helper()
	dsn = "file:" + filepath.Join(t.TempDir(), "db") + "?_pragma=synchronous(off)"
	db, err := sql.Open("sqlite", dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	schema, err := os.ReadFile("schema/sqlite.sql")
	require.NoError(t, err)
	for _, query := range []string{
		string(schema),
		"CREATE TABLE register (id INTEGER PRIMARY KEY, value TEXT, fence_token INTEGER DEFAULT 0, fence_owner TEXT DEFAULT '')",
		"INSERT INTO register (id, value) VALUES (1, '')",
	} {
		_, err := db.Exec(query)
		require.NoError(t, err)
	}
	return db, dsn
}

var (
	registers = fencesql.Table{Dialect: fencesql.SQLite, Name: "register", Key: "id"}
	guards    = fencesql.Table{Dialect: fencesql.SQLite, Name: "fence", Key: "resource"}
)

func value(t *testing.T, db *sql.DB) (v string) {
	t.Helper()
	require.NoError(t, db.QueryRow("SELECT value FROM register WHERE id = 1").Scan(&v))
	return v
}

// ways are all ways to write a value to the register under a lease.
var ways = map[string]func(db *sql.DB, l fencesql.Lease, value string) error{
	"update": func(db *sql.DB, l fencesql.Lease, value string) error {
		return registers.Update(context.Background(), db, l, 1, "value = ?", value)
	},
	"upsert": func(db *sql.DB, l fencesql.Lease, value string) error {
		return registers.Upsert(context.Background(), db, l, []string{"id", "value"}, []any{1, value})
	},
	"batch": func(db *sql.DB, l fencesql.Lease, value string) error {
		return registers.Upsert(context.Background(), db, l, []string{"value", "id"}, []any{value, 1}, []any{value, 2})
	},
	"exec": func(db *sql.DB, l fencesql.Lease, value string) error {
		_, err := guards.Exec(context.Background(), db, l, "register", "UPDATE register SET value = ? WHERE id = 1", value)
		return err
	},
	"within": func(db *sql.DB, l fencesql.Lease, value string) error {
		return guards.Within(context.Background(), db, l, "register", func(tx *sql.Tx) error {
			_, err := tx.Exec("UPDATE register SET value = ? WHERE id = 1", value)
			return err
		})
	},
	"raise": func(db *sql.DB, l fencesql.Lease, value string) error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := guards.Raise(context.Background(), tx, l, "register"); err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE register SET value = ? WHERE id = 1", value); err != nil {
			return err
		}
		return tx.Commit()
	},
}
