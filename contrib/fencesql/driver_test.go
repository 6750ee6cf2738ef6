package fencesql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/fencesql"
)

// connector makes connections to a database of SQLite, counts their statements, and can
// lose an answer.
type connector struct {
	driver     driver.Driver
	dsn        string
	statements int
	lose       bool // the next statement is executed, and its connection breaks
}

func (c *connector) Driver() driver.Driver { return c.driver }

func (c *connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	return connection{conn.(sqliteConn), c}, nil
}

// sqliteConn is what these tests need of a connection.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
}

type connection struct {
	sqliteConn
	of *connector
}

// ExecContext loses the answer as lib/pq does if the server closes the connection.
func (c connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.of.statements++
	res, err := c.sqliteConn.ExecContext(ctx, query, args)
	if c.of.lose {
		c.of.lose = false
		return nil, driver.ErrBadConn
	}
	return res, err
}

func (c connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.of.statements++
	return c.sqliteConn.QueryContext(ctx, query, args)
}

// newConnector also returns a pool whose register is a counter.
func newConnector(t *testing.T) (*connector, *sql.DB) {
	db, dsn := newFile(t)
	_, err := db.Exec("UPDATE register SET value = 0")
	require.NoError(t, err)
	c := &connector{driver: db.Driver(), dsn: dsn}
	pool := sql.OpenDB(c)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	return c, pool
}

// ways to add 1 to the register.
var additions = map[string]func(ctx context.Context, db *sql.DB) error{
	"update": func(ctx context.Context, db *sql.DB) error {
		return registers.Update(ctx, db, held(5), 1, "value = value + ?", 1)
	},
	"exec": func(ctx context.Context, db *sql.DB) error {
		_, err := guards.Exec(ctx, db, held(5), "register", "UPDATE register SET value = value + ?", 1)
		return err
	},
}

// Promise: a write is sent once. If its answer is lost, the error is returned, and the
// write is not repeated, whatever database/sql would do with it.
func TestWriteWhoseAnswerIsLostIsNotRepeated(t *testing.T) {
	for name, add := range additions {
		t.Run(name, func(t *testing.T) {
			c, db := newConnector(t)
			c.lose = true
			require.ErrorIs(t, add(t.Context(), db), driver.ErrBadConn)
			require.Contains(t, []string{"0", "1"}, value(t, db))
			c.lose = true
			_, err := db.Exec("UPDATE register SET value = value + 1")
			require.NoError(t, err, "database/sql repeats it")
		})
	}
}

// Promise: Update, and Upsert of a row, are one statement, as they are without a fence.
func TestUpdateAndUpsertAreOneStatement(t *testing.T) {
	c, db := newConnector(t)
	for name, write := range map[string]func(db fencesql.DB) error{
		"update": func(db fencesql.DB) error { return registers.Update(t.Context(), db, held(5), 1, "value = 'x'") },
		"upsert": func(db fencesql.DB) error {
			return registers.Upsert(t.Context(), db, held(5), []string{"id", "value"}, []any{1, "x"})
		},
	} {
		c.statements = 0
		require.NoError(t, write(db))
		require.Equal(t, 1, c.statements, name)
	}
}

// Promise: a write whose context ends before its transaction commits has no effect.
func TestCancelledTransactionWritesNothing(t *testing.T) {
	db := newDatabase(t)
	db.SetMaxOpenConns(1) // database/sql rolls back in a goroutine, and the reads wait for its connection
	ctx, cancel := context.WithCancel(t.Context())
	err := guards.Within(ctx, db, held(5), "register", func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE register SET value = 'written'")
		cancel()
		return err
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, value(t, db))
	require.NoError(t, ways["within"](db, held(4), "next"), "the token is rolled back, too")
}

// wrapper hides all of a *sql.DB but the methods of a DB.
type wrapper struct{ fencesql.DB }

// Promise: Upsert of several rows is all or none, whatever db is: without a transaction,
// it is refused.
func TestBatchWithoutATransactionIsRefused(t *testing.T) {
	db := newDatabase(t)
	columns := []string{"id", "value"}
	require.NoError(t, registers.Upsert(t.Context(), db, held(7), columns, []any{2, "second"}))
	err := registers.Upsert(t.Context(), wrapper{db}, held(6), columns, []any{1, "late"}, []any{2, "late"})
	require.ErrorContains(t, err, "neither begins a transaction nor is one")
	require.Empty(t, value(t, db))
	require.NoError(t, registers.Upsert(t.Context(), wrapper{db}, held(6), columns, []any{1, "alone"}))
}
