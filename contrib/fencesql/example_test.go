package fencesql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// A holder is paused for so long that its session ends and the next holder writes. The
// holder looked at its lease before the pause, and writes after it.
func Example() {
	db := openExample()
	defer db.Close()
	srv, err := zktest.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	connect := func() *framework.Client {
		client, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		if err != nil {
			log.Fatal(err)
		}
		return client
	}
	first, second := connect(), connect()
	defer first.Close()
	defer second.Close()

	ctx := context.Background()
	accounts := fencesql.Table{Dialect: fencesql.SQLite, Name: "account", Key: "id"}
	withdraw := func(lease fencesql.Lease) error {
		return accounts.Update(ctx, db, lease, 7, "balance = balance - ?", 10)
	}
	paused, err := locks.NewInterProcessMutex(first, "/accounts/7").Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("first:", withdraw(paused))

	srv.Session(first.SessionID()).Expire() // the servers do not wait for the paused process
	next, err := locks.NewInterProcessMutex(second, "/accounts/7").Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("second:", withdraw(next))

	err = withdraw(afterItsPause{paused})
	fmt.Println("first again:", errors.Is(err, fencesql.ErrStale))
	var stale *fencesql.StaleError
	fmt.Println(errors.As(err, &stale), stale.Owner == paused.Path(), stale.NewestOwner == next.Path())
	<-paused.Context().Done()
	fmt.Println("and later:", errors.Is(withdraw(paused), framework.ErrSessionLost))

	var balance int
	fmt.Println(db.QueryRow("SELECT balance FROM account WHERE id = 7").Scan(&balance), balance)
	// Output:
	// first: <nil>
	// second: <nil>
	// first again: true
	// true true true
	// and later: true
	// <nil> 80
}

// afterItsPause is a lease whose context was looked at before its process was paused.
type afterItsPause struct{ *locks.Lease }

func (afterItsPause) Context() context.Context { return context.Background() }

// A guard row fences a whole transaction, on any tables.
func ExampleTable_Within() {
	db := openExample()
	defer db.Close()
	ctx := context.Background()
	guards := fencesql.Table{Dialect: fencesql.SQLite, Name: "fence", Key: "resource"}

	transfer := func(lease fencesql.Lease) error {
		return guards.Within(ctx, db, lease, "bank", func(tx *sql.Tx) error {
			if _, err := tx.Exec("UPDATE account SET balance = balance - 10 WHERE id = 7"); err != nil {
				return err
			}
			_, err := tx.Exec("UPDATE account SET balance = balance + 10 WHERE id = 8")
			return err
		})
	}
	fmt.Println(transfer(held(5)))
	fmt.Println(transfer(held(7)))
	fmt.Println(transfer(held(6)))
	// Output:
	// <nil>
	// <nil>
	// stale fencing token: 6 of /lock/of-g, after 7 of /lock/of-h
}

// An INSERT on a table without a token is fenced by a guard row. On Postgres this is one
// statement.
func ExampleTable_Exec() {
	db := openExample()
	defer db.Close()
	guards := fencesql.Table{Dialect: fencesql.SQLite, Name: "fence", Key: "resource"}

	const insert = "INSERT INTO account (id, balance) VALUES (?, ?), (?, ?)"
	fmt.Println(guards.Exec(context.Background(), db, held(5), "bank", insert, 9, 100, 10, 100))
	fmt.Println(guards.Exec(context.Background(), db, held(4), "bank", insert, 11, 100, 12, 100))
	// Output:
	// 2 <nil>
	// 0 stale fencing token: 4 of /lock/of-e, after 5 of /lock/of-f
}

// openExample returns a database in memory, with two accounts of 100.
func openExample() *sql.DB {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(1) // each connection has its own memory
	schema, err := os.ReadFile("schema/sqlite.sql")
	if err != nil {
		log.Fatal(err)
	}
	for _, query := range []string{
		string(schema),
		`CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL,
			fence_token INTEGER NOT NULL DEFAULT 0, fence_owner TEXT NOT NULL DEFAULT '')`,
		"INSERT INTO account (id, balance) VALUES (7, 100), (8, 100)",
	} {
		if _, err := db.ExecContext(context.Background(), query); err != nil {
			log.Fatal(err)
		}
	}
	return db
}
