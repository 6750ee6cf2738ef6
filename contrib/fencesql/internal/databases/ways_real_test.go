//go:build real

package databases

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/gocurator/curator/contrib/fencesql"
)

// way writes a value and a token under a lease. Such a write stalls where it is most
// dangerous: after the last check in the process.
type way struct {
	name  string
	on    string // the kinds of databases that have it, or "" for all
	write func(ctx context.Context, w world, l lease) error
}

// lease is a lease whose token is read after its context. There the writer stalls.
type lease struct {
	fencesql.Lease
	stall func()
}

func (l lease) FencingToken() int64 {
	l.stall()
	return l.Lease.FencingToken()
}

// value is what the holder of a token writes to the register.
func value(token int64) string { return fmt.Sprint("by ", token) }

const addToLedger = "INSERT INTO ledger (token) VALUES ($1)"

var fenced = []way{
	{"update", "", func(ctx context.Context, w world, l lease) error {
		return w.registers().Update(ctx, w.db, l, 1, w.text("value = $1"), value(l.Lease.FencingToken()))
	}},
	{"upsert", "", func(ctx context.Context, w world, l lease) error {
		return w.registers().Upsert(ctx, w.db, l, []string{"id", "value"}, []any{1, value(l.Lease.FencingToken())})
	}},
	{"batch", "", func(ctx context.Context, w world, l lease) error {
		v := value(l.Lease.FencingToken())
		return w.registers().Upsert(ctx, w.db, l, []string{"id", "value"}, []any{1, v}, []any{l.Lease.FencingToken() % 1e9, v})
	}},
	{"exec", "", func(ctx context.Context, w world, l lease) error {
		_, err := w.guards().Exec(ctx, w.db, l, "ledger", w.text(addToLedger), l.Lease.FencingToken())
		return err
	}},
	{"within", "", func(ctx context.Context, w world, l lease) error {
		return w.guards().Within(ctx, w.db, l, "ledger", func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, w.text(addToLedger), l.Lease.FencingToken())
			return err
		})
	}},
	{"exec under REPEATABLE READ", "postgres", func(ctx context.Context, w world, l lease) error {
		db, err := sql.Open(w.driver, w.dsn+"&default_transaction_isolation=repeatable%20read")
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = w.guards().Exec(ctx, db, l, "ledger", addToLedger, l.Lease.FencingToken())
		return err
	}},
	{"raise under READ COMMITTED", "postgres", raising(sql.LevelReadCommitted)},
	{"raise under REPEATABLE READ", "postgres", raising(sql.LevelRepeatableRead)},
	{"raise under SERIALIZABLE", "postgres", raising(sql.LevelSerializable)},
}

// raising raises the token after the transaction has taken its snapshot.
func raising(level sql.IsolationLevel) func(context.Context, world, lease) error {
	return func(ctx context.Context, w world, l lease) error {
		return transaction(ctx, w, level, func(tx *sql.Tx) error {
			if _, err := tokenOf(ctx, w, tx, "fence WHERE resource = 'ledger'"); err != nil {
				return err
			}
			if err := w.guards().Raise(ctx, tx, l, "ledger"); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, w.text(addToLedger), l.Lease.FencingToken())
			return err
		})
	}
}

// unfenced are ways that people have written by hand. Each lets a stale holder write.
var unfenced = []way{
	// The check is a statement, and the write is another one.
	{"separate statements", "", func(ctx context.Context, w world, l lease) error {
		token := l.Lease.FencingToken()
		if newest, err := tokenOf(ctx, w, w.db, "register WHERE id = 1"); err != nil || newest > token {
			return staleOr(err)
		}
		l.stall()
		_, err := w.db.ExecContext(ctx, w.text("UPDATE register SET value = $1, fence_token = $2 WHERE id = 1"), value(token), token)
		return err
	}},
	// The check is right before the write, in its transaction, and reads the snapshot.
	{"a check under REPEATABLE READ", "postgres mysql", func(ctx context.Context, w world, l lease) error {
		token := l.Lease.FencingToken()
		return transaction(ctx, w, sql.LevelRepeatableRead, func(tx *sql.Tx) error {
			if _, err := tokenOf(ctx, w, tx, "register WHERE id = 1"); err != nil {
				return err
			}
			l.stall()
			if newest, err := tokenOf(ctx, w, tx, "fence WHERE resource = 'ledger'"); err != nil || newest > token {
				return staleOr(err)
			}
			_, err := tx.ExecContext(ctx, w.text(addToLedger), token)
			return err
		})
	}},
	// The check is in the writing statement, and looks at another row without a lock.
	// Postgres waits for the row that is written, and does not look again.
	{"a predicate on another row", "postgres", func(ctx context.Context, w world, l lease) error {
		token := l.Lease.FencingToken()
		_, err := w.db.ExecContext(ctx, `UPDATE register SET value = $1, fence_token = $2
			WHERE id = 1 AND (SELECT fence_token FROM fence WHERE resource = 'ledger') <= $2`, value(token), token)
		return err
	}},
}

func transaction(ctx context.Context, w world, level sql.IsolationLevel, f func(tx *sql.Tx) error) error {
	tx, err := w.db.BeginTx(ctx, &sql.TxOptions{Isolation: level})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func tokenOf(ctx context.Context, w world, db fencesql.DB, row string) (token int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT fence_token FROM "+row).Scan(&token)
	return token, err
}

func staleOr(err error) error {
	if err != nil {
		return err
	}
	return fencesql.ErrStale
}
