package fencesql_test

import (
	"context"
	"database/sql"
	"io"
	"net/http"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/fence/fencehttp"
	"github.com/gocurator/curator/recipes/fence/fencezk"
	"github.com/gocurator/curator/recipes/locks"
)

// These are what docs/FENCING.md tells people to write.
var _, _, _, _ = claim, call, serve, writeToZooKeeper

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

func call(lease *locks.Lease, url string, body io.Reader) (*http.Response, error) {
	client := &http.Client{Transport: fencehttp.Transport(nil)}
	request, err := http.NewRequestWithContext(lease.Context(), http.MethodPost, url, body)
	if err != nil {
		return nil, err
	}
	return client.Do(request)
}

func serve(store fence.Store, accounts http.Handler) {
	http.Handle("POST /accounts/{id}", fencehttp.Handler(store, func(r *http.Request) string {
		return "/locks/accounts/" + r.PathValue("id") // the lock that guards the resource
	}, accounts))
}

func writeToZooKeeper(ctx context.Context, client *framework.Client, lease *locks.Lease, data []byte) error {
	fenced := fencezk.New(client, lease)
	_, err := fenced.Set(ctx, "/orders/7", data, framework.AnyVersion)
	return err
}
