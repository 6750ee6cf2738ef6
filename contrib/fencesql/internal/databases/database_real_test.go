//go:build real

package databases

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/lib/pq"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/gocurator/curator/contrib/fencesql"
)

// kind is a kind of databases. A process of a test has its name.
type kind struct {
	name, driver string
	dialect      fencesql.Dialect
	create       func(t testing.TB) (dsn string) // a new database
	blocked      string                          // a query that counts statements that wait for a lock
	locks        string                          // the end of a query that locks rows
}

var kinds = []kind{
	{
		"postgres", "postgres", fencesql.Postgres, newPostgres,
		"SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()", " FOR UPDATE",
	},
	{
		"mysql", "mysql", fencesql.MySQL, newMaria,
		"SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'Innodb_row_lock_current_waits'", " FOR UPDATE",
	},
	{"sqlite", "sqlite", fencesql.SQLite, newSQLite, "", ""},
}

func kindOf(name string) kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	panic(name)
}

func onEach(t *testing.T, test func(t *testing.T, k kind)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { test(t, k) })
	}
}

var databases atomic.Int64

func newPostgres(t testing.TB) string {
	s, err := postgresServer()
	require.NoError(t, err)
	dsn := "postgres://postgres@/%s?sslmode=disable&host=" + s.dir
	name := fmt.Sprintf("test%d", databases.Add(1))
	execute(t, "postgres", fmt.Sprintf(dsn, "postgres"), "CREATE DATABASE "+name)
	return fmt.Sprintf(dsn, name)
}

func newMaria(t testing.TB) string {
	s, err := mariaServer()
	require.NoError(t, err)
	dsn := "root@unix(" + filepath.Join(s.dir, "socket") + ")/"
	name := fmt.Sprintf("test%d", databases.Add(1))
	execute(t, "mysql", dsn, "CREATE DATABASE "+name)
	return dsn + name
}

func newSQLite(t testing.TB) string {
	dsn := "file:" + filepath.Join(t.TempDir(), "db") + "?_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)"
	if !durable() {
		dsn += "&_pragma=synchronous(off)"
	}
	return dsn
}

func execute(t testing.TB, driver, dsn string, queries ...string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	require.NoError(t, err)
	defer db.Close()
	for _, query := range queries {
		_, err := db.Exec(query)
		require.NoError(t, err, query)
	}
}

// world is a database with the schema of fencesql, a register, which is a table of the
// user's data with one row, and a ledger, which only the guard row fences.
type world struct {
	kind
	dsn string
	db  *sql.DB
}

func newWorld(t testing.TB, k kind) world {
	t.Helper()
	dsn := k.create(t)
	schema, err := os.ReadFile("../../schema/" + k.name + ".sql")
	require.NoError(t, err)
	serial := map[string]string{"postgres": "serial PRIMARY KEY", "mysql": "integer AUTO_INCREMENT PRIMARY KEY", "sqlite": "integer PRIMARY KEY"}[k.name]
	table, _, _ := strings.Cut(string(schema), ";")
	execute(t, k.driver, dsn, table,
		"CREATE TABLE register (id integer PRIMARY KEY, value varchar(100) NOT NULL, fence_token bigint NOT NULL DEFAULT 0, fence_owner varchar(512) NOT NULL DEFAULT '')",
		"CREATE TABLE ledger (id "+serial+", token bigint NOT NULL)",
		"INSERT INTO register (id, value) VALUES (1, '')",
		"INSERT INTO fence (resource) VALUES ('ledger')")
	w := openWorld(k, dsn)
	t.Cleanup(func() { require.NoError(t, w.db.Close()) })
	return w
}

func openWorld(k kind, dsn string) world {
	db, err := sql.Open(k.driver, dsn)
	if err != nil {
		panic(err)
	}
	return world{k, dsn, db}
}

func (w world) registers() fencesql.Table {
	return fencesql.Table{Dialect: w.dialect, Name: "register", Key: "id"}
}
func (w world) guards() fencesql.Table {
	return fencesql.Table{Dialect: w.dialect, Name: "fence", Key: "resource"}
}

// having returns the ways that this kind of database has.
func (w world) having(ways []way) (list []way) {
	for _, one := range ways {
		if one.on == "" || strings.Contains(one.on, w.name) {
			list = append(list, one)
		}
	}
	return list
}

// text returns a query, which is written for Postgres, for this database.
func (w world) text(query string) string {
	if w.dialect != fencesql.Postgres {
		for _, n := range []string{"$1", "$2", "$3"} {
			query = strings.Replace(query, n, "?", 1)
		}
	}
	return query
}

func (w world) number(t *testing.T, query string, args ...any) (n int64) {
	t.Helper()
	require.NoError(t, w.db.QueryRow(w.text(query), args...).Scan(&n))
	return n
}

// untilBlocked waits until a statement waits for a lock.
func (w world) untilBlocked(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return w.number(t, w.blocked) > 0 }, time.Minute, time.Millisecond)
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
