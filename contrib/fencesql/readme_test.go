package fencesql_test

import (
	"context"
	"database/sql"
	"errors"

	"github.com/gocurator/curator/contrib/fencesql"
)

// These are what README tells people to write.
var _, _, _ = withdraw, book, withdrawWithin

func withdraw(ctx context.Context, db *sql.DB, lease fencesql.Lease) error {
	accounts := fencesql.Table{Dialect: fencesql.Postgres, Name: "account", Key: "id"}
	err := accounts.Update(ctx, db, lease, 7, "balance = balance - $1", 10)
	if errors.Is(err, fencesql.ErrStale) {
		return err // another process has the lock, and has written to this row
	}
	return err
}

func book(ctx context.Context, db *sql.DB, lease fencesql.Lease) (int64, error) {
	guards := fencesql.Table{Dialect: fencesql.Postgres, Name: "fence", Key: "resource"}
	rows, err := guards.Exec(ctx, db, lease, "ledger", "INSERT INTO ledger (account, amount) VALUES ($1, $2)", 7, -10)
	return rows, err
}

func withdrawWithin(ctx context.Context, db *sql.DB, lease fencesql.Lease, guards fencesql.Table) error {
	err := guards.Within(ctx, db, lease, "ledger", func(tx *sql.Tx) error {
		var balance int
		if err := tx.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = $1", 7).Scan(&balance); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE account SET balance = $1 WHERE id = $2", balance-10, 7)
		return err
	})
	return err
}
