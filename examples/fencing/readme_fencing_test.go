//go:build unix

package main

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"strconv"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/locks"
)

// These are what docs/FENCING.md tells people to write.
var _, _, _ = claim, serve, writeToZooKeeper

func claim(ctx context.Context, db *sql.DB, lease *locks.Lease, id int, name string, decide func(int) int) error {
	accounts := fencesql.Table{Dialect: fencesql.Postgres, Name: "account", Key: "id"}
	if err := accounts.Update(ctx, db, lease, id, "claimed_by = $1", name); err != nil {
		return err // errors.Is(err, fencesql.ErrStale): a later holder has claimed the account
	}
	var balance int
	if err := db.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = $1", id).Scan(&balance); err != nil {
		return err
	}
	return accounts.Update(ctx, db, lease, id, "balance = $1", decide(balance))
}

func serve(guard *fence.Guard, save func(*http.Request) error) {
	http.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		token, err := strconv.ParseInt(r.Header.Get("X-Fencing-Token"), 10, 64)
		if err != nil {
			http.Error(w, "no fencing token", http.StatusPreconditionRequired)
			return
		}
		if err := guard.Do(token, func() error { return save(r) }); errors.Is(err, fence.ErrStale) {
			http.Error(w, err.Error(), http.StatusConflict)
		} else if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
}

func writeToZooKeeper(ctx context.Context, client *framework.Client, lease *locks.Lease, data []byte) error {
	set := framework.SetOp("/orders/7", data, framework.AnyVersion)
	_, err := client.Transaction(ctx, append(lease.Checks(), set)...)
	return err
}
