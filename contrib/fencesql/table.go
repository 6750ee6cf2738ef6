package fencesql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Table is a table whose rows have the columns fence_token and fence_owner: a table of
// guard rows, or a table of the user's data. The folder schema has both as plain SQL.
// The token must be NOT NULL. All fields are required. Name and Key, like the names of
// columns, become part of the SQL text as they are. Keys have the type of their column.
type Table struct {
	Dialect Dialect
	Name    string
	Key     string // the column that is the primary key
}

// DB is a *sql.DB, a *sql.Conn or a *sql.Tx. With a *sql.DB, each call takes one connection
// and sends its write once, although database/sql may repeat a statement whose connection
// broke. After such an error, the write may have been applied.
type DB interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// beginner is a DB that can begin a transaction.
type beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// Update sets columns of the row with a key, such as "balance = balance - $1", in one
// statement that also checks and raises the token of the row. The args belong to set;
// on Postgres, set refers to them as $1, $2 and so on.
//
// The error matches ErrStale if the row has a larger token, and sql.ErrNoRows if there
// is no row.
func (t Table) Update(ctx context.Context, db DB, lease Lease, key any, set string, args ...any) error {
	text := t.updateText(set, len(args))
	return once(ctx, db, func(db DB) error {
		// The row may have been inserted after the first statement.
		for range 2 {
			s, err := stampOf(lease)
			if err != nil {
				return err
			}
			all := append(args[:len(args):len(args)], s.token, s.owner, key, s.token)
			done, err := t.matched(db.ExecContext(ctx, text, all...))
			if err != nil || done {
				return err
			}
			newest, err := t.newest(ctx, db, key)
			if err != nil {
				return fmt.Errorf("fencesql: %s %v: %w", t.Name, key, err)
			}
			if err := s.after(newest); err != nil {
				return err
			}
		}
		return fmt.Errorf("fencesql: %s %v: %w", t.Name, key, sql.ErrNoRows)
	})
}

// matched reports whether an update found its row, even if the row's values did not
// change.
func (t Table) matched(res sql.Result, err error) (bool, error) {
	n, err := rowsAffected(res, err)
	if err == nil && n == 0 && t.Dialect == MySQL {
		n, err = res.LastInsertId() // the token: see updateText
	}
	return n > 0, err
}

// Upsert writes rows, inserting those that are missing, in one statement that also
// checks and raises the token of each row. The columns include the key. A row has a
// value for each column.
//
// Either all rows are written or none: the error matches ErrStale if one of the rows has
// a larger token. For several rows, and always on MySQL, the statement has its own
// transaction. If db is a *sql.Tx, the caller must roll it back after an error. Two
// batches with the same rows in a different order can deadlock; the database then
// returns an error.
//
// On MySQL, the key must be the only unique index that rows can violate.
func (t Table) Upsert(ctx context.Context, db DB, lease Lease, columns []string, rows ...[]any) error {
	upsert := func(db DB) error { return t.upsert(ctx, db, lease, columns, rows) }
	if t.Dialect != MySQL && len(rows) == 1 {
		return once(ctx, db, upsert)
	}
	if pool, ok := db.(beginner); ok {
		return t.transact(ctx, pool, lease, func(tx *sql.Tx) error { return upsert(tx) })
	}
	if _, ok := db.(interface{ Rollback() error }); !ok {
		return fmt.Errorf("fencesql: upsert: a %T neither begins a transaction nor is one", db)
	}
	return upsert(db)
}

func (t Table) upsert(ctx context.Context, db DB, lease Lease, columns []string, rows [][]any) error {
	key := slices.Index(columns, t.Key)
	if key < 0 || len(rows) == 0 {
		return fmt.Errorf("fencesql: upsert of %d rows with the columns %v: there must be a row, and the column %s",
			len(rows), columns, t.Key)
	}
	s, err := stampOf(lease)
	if err != nil {
		return err
	}
	var args, keys []any
	for _, row := range rows {
		if len(row) != len(columns) {
			return fmt.Errorf("fencesql: upsert: a row has %d values for the columns %v", len(row), columns)
		}
		args, keys = append(append(args, row...), s.token, s.owner), append(keys, row[key])
	}
	done, err := rowsAffected(db.ExecContext(ctx, t.upsertText(columns, len(rows)), args...))
	if err != nil || t.Dialect != MySQL && done == int64(len(rows)) {
		return err
	}
	newest, err := t.newest(ctx, db, keys...)
	if err != nil {
		return fmt.Errorf("fencesql: %s %v: %w", t.Name, keys, err)
	}
	if err := s.after(newest); err != nil || t.Dialect == MySQL {
		return err
	}
	return fmt.Errorf("fencesql: upsert: %s has %d of %d rows", t.Name, done, len(rows))
}

// Within begins a transaction, raises and locks the row with the key, calls f, and
// commits. It is for a table of guard rows: the row is inserted if it is missing.
//
// Until the transaction ends, no other transaction or statement passes this row. So f
// can read everything that former holders have written, and can write to any table. The
// isolation level is always READ COMMITTED. Within rolls back if f returns an error or
// panics, and if the lease has ended meanwhile. Nothing in f may end the transaction.
// On MySQL, CREATE, ALTER, DROP and TRUNCATE do.
//
// The error matches ErrStale if the row has a larger token; then f was not called.
// After an error of the commit, the database may have committed. Deadlocks and lock
// timeouts are errors of the database, as in any transaction.
func (t Table) Within(ctx context.Context, db *sql.DB, lease Lease, key any, f func(tx *sql.Tx) error) error {
	return t.transact(ctx, db, lease, func(tx *sql.Tx) error {
		if err := t.raise(ctx, tx, lease, key); err != nil {
			return err
		}
		if err := f(tx); err != nil {
			return err
		}
		return ended(lease)
	})
}

// Raise raises and locks the row with a key in a transaction that the caller began, as
// Within does in its own. The transaction should read nothing before Raise: under READ
// COMMITTED, an earlier read may miss a former holder's write. Under REPEATABLE READ
// and SERIALIZABLE, Postgres fails the transaction in this case (SQLSTATE 40001).
//
// Under its default level, MySQL would read from an old snapshot instead, and MySQL
// does not report the level of a transaction. So Raise returns an error on MySQL. Use
// Within there.
//
// After an error, the caller must roll back.
func (t Table) Raise(ctx context.Context, tx *sql.Tx, lease Lease, key any) error {
	if t.Dialect == MySQL {
		return errRaiseOnMySQL
	}
	return t.raise(ctx, tx, lease, key)
}

func (t Table) raise(ctx context.Context, tx *sql.Tx, lease Lease, key any) error {
	return t.upsert(ctx, tx, lease, []string{t.Key}, [][]any{{key}})
}

// Exec executes an INSERT, UPDATE or DELETE on any table, of any number of rows, if the
// row with the key has no larger token, and raises that row's token. It returns the
// number of rows that the query changed. It is for a table of guard rows.
//
// On Postgres, Exec sends one statement: the query must have no RETURNING, no WITH at
// its begin and no semicolon at its end. A statement sees the data as of its begin. So
// the query may miss a row that the former holder inserted while the statement waited
// for the guard row. Use Within if the query must see such rows. On the other databases,
// Exec executes the query in Within.
//
// The error matches ErrStale if the guard row has a larger token.
func (t Table) Exec(
	ctx context.Context, db *sql.DB, lease Lease, key any, query string, args ...any,
) (rows int64, err error) {
	if t.Dialect != Postgres {
		err := t.Within(ctx, db, lease, key, func(tx *sql.Tx) (err error) {
			rows, err = rowsAffected(tx.ExecContext(ctx, query, args...))
			return err
		})
		if err != nil {
			return 0, err
		}
		return rows, nil
	}
	err = once(ctx, db, func(db DB) error {
		s, err := stampOf(lease)
		if err != nil {
			return err
		}
		var raised int64
		all := append(args[:len(args):len(args)], key, s.token, s.owner)
		err = db.QueryRowContext(ctx, t.execText(query, len(args)), all...).Scan(&raised, &rows)
		if err == nil || !strings.Contains(err.Error(), refusal) {
			return err
		}
		newest, readErr := t.newest(ctx, db, key)
		if err := s.after(newest); err != nil {
			return err
		}
		return errors.Join(ErrStale, err, readErr)
	})
	return rows, err
}

// once calls f with a DB that sends each statement once. A *sql.DB sends a statement
// again if the driver returns driver.ErrBadConn, which lib/pq does even if the server
// has executed the statement. A *sql.Conn and a *sql.Tx never repeat a statement.
func once(ctx context.Context, db DB, f func(db DB) error) error {
	pool, ok := db.(*sql.DB)
	if !ok {
		return f(db)
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return f(conn)
}

// transact runs f in a transaction and commits if f returns nil. Under the level READ
// COMMITTED, each statement reads everything that was committed before the statement,
// including commits during the wait for the guard row. SQLite has one writer and one
// level. With a lease that has ended, transact begins no transaction.
func (t Table) transact(ctx context.Context, db beginner, lease Lease, f func(tx *sql.Tx) error) error {
	if err := ended(lease); err != nil {
		return err
	}
	opts := &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	if t.Dialect == SQLite {
		opts = nil
	}
	tx, err := db.BeginTx(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err = f(tx); err == nil {
		err = tx.Commit()
	}
	// When ctx ends, database/sql rolls back and reports ErrTxDone instead of the error of ctx.
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil { //nolint:forbidigo // an error of database/sql
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

// newest returns the stamp with the largest token of the rows with these keys.
func (t Table) newest(ctx context.Context, db DB, keys ...any) (s stamp, err error) {
	err = db.QueryRowContext(ctx, t.newestText(len(keys)), keys...).Scan(&s.token, &s.owner)
	return s, err
}

func rowsAffected(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
