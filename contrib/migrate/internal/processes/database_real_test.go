//go:build real

package processes

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The kinds of databases, which are the names of their drivers for package sql.
const (
	sqliteKind   = "sqlite"
	postgresKind = "postgres"
)

// store is a database that replicas migrate.
type store struct{ kind, dsn string }

// newDatabase returns an empty database.
func newDatabase(t *testing.T, kind string) store {
	t.Helper()
	if kind == postgresKind {
		return store{kind, newPostgres(t)}
	}
	// A request waits while another process writes.
	return store{kind, "file:" + filepath.Join(t.TempDir(), "orders.db") + "?_pragma=busy_timeout(60000)"}
}

func onEachKind(t *testing.T, test func(t *testing.T, d store)) {
	for _, kind := range []string{sqliteKind, postgresKind} {
		t.Run(kind, func(t *testing.T) { test(t, newDatabase(t, kind)) })
	}
}

func (d store) open() (*sql.DB, error) { return sql.Open(d.kind, d.dsn) }

// mustOpen returns the database, which is closed when the test ends.
func (d store) mustOpen(t *testing.T) *sql.DB {
	t.Helper()
	db, err := d.open()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// applied returns what the migrations have written, each of which writes its
// version.
func (d store) applied(t *testing.T) (versions []int) {
	t.Helper()
	rows, err := d.mustOpen(t).Query("SELECT version FROM applied ORDER BY version")
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var version int
		require.NoError(t, rows.Scan(&version))
		versions = append(versions, version)
	}
	require.NoError(t, rows.Err())
	return versions
}
