// Fencing suspends the machine of a lock's holder between a read and a write. The holder's
// session times out, and another client gets the lock and writes. Then the machine resumes,
// and its client still trusts its lease: only the database can refuse the late write.
//
//	go run ./examples/fencing
//	go run ./examples/fencing -unfenced   # the same without a fence: money is lost
//
// The part to copy is the method withdraw. The database is SQLite, in memory. The server is
// a zktest.Server, which can suspend the machine of a client.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	_ "modernc.org/sqlite"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

func main() {
	unfenced := flag.Bool("unfenced", false, "write without a fence")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *unfenced); err != nil {
		log.Fatal(err)
	}
}

// accounts are rows that have a balance, and the columns of fencesql.
var accounts = fencesql.Table{Dialect: fencesql.SQLite, Name: "account", Key: "id"}

// teller pays out of an account, while it holds a lock.
type teller struct {
	name     string
	db       *sql.DB
	unfenced bool
	decide   func(balance int) error // takes its time
}

// withdraw writes the new balance. If it returns nil, the teller pays out.
//
// The claim raises the fencing token in the row before the balance is read. So the balance
// is what all former holders of the lock have left, and none of them can change it later.
func (t teller) withdraw(ctx context.Context, lease *locks.Lease, amount int) error {
	if err := t.update(ctx, lease, "teller = ?", t.name); err != nil {
		return err
	}
	balance, err := read(ctx, t.db)
	if err != nil {
		return err
	}
	if balance < amount {
		return fmt.Errorf("a balance of %d is too low", balance)
	}
	if err := t.decide(balance); err != nil {
		return err
	}
	return t.update(ctx, lease, "balance = ?", balance-amount)
}

// update writes to the account. Without the fence, update only checks the lease before.
func (t teller) update(ctx context.Context, lease *locks.Lease, set string, arg any) error {
	if !t.unfenced {
		return accounts.Update(ctx, t.db, lease, 1, set, arg)
	}
	if lease.Context().Err() != nil {
		return context.Cause(lease.Context())
	}
	_, err := t.db.ExecContext(ctx, "UPDATE account SET "+set+" WHERE id = 1", arg)
	return err
}

func read(ctx context.Context, db *sql.DB) (balance int, err error) {
	err = db.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = 1").Scan(&balance)
	return balance, err
}

// run tells the story: alice's machine is suspended while she decides, and bob withdraws.
func run(ctx context.Context, out io.Writer, unfenced bool) error {
	srv, err := zktest.Run()
	if err != nil {
		return err
	}
	defer srv.Close()
	db, err := openBank(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	paid := 0
	pay := func(name string, host *zktest.Host, decide func() error) error {
		client, err := framework.Connect(ctx, srv.Addr(), framework.WithDialer(host.Dialer()))
		if err != nil {
			return err
		}
		defer client.Close()
		lease, err := locks.NewInterProcessMutex(client, "/lock").Acquire(ctx)
		if err != nil {
			return err
		}
		err = teller{name, db, unfenced, func(balance int) error {
			fmt.Fprintf(out, "%s has the lock, and reads a balance of %d.\n", name, balance)
			return decide()
		}}.withdraw(ctx, lease, amount)
		switch {
		case err == nil:
			paid += amount
			fmt.Fprintf(out, "%s writes the new balance, and pays out.\n", name)
		case errors.Is(err, fencesql.ErrStale):
			fmt.Fprintf(out, "%s writes the new balance. The database refuses: the fencing token is stale.\n", name)
			err = nil
		}
		host.Heal()
		_ = lease.Release(ctx) // the lease may be lost
		return err
	}
	host := srv.NewHost()
	err = pay("alice", host, func() error {
		fmt.Fprintln(out, "alice's machine is suspended. Her session times out.")
		host.Isolate()
		if err := host.Suspend(time.Minute); err != nil {
			return err
		}
		err := pay("bob", srv.NewHost(), func() error { return nil })
		fmt.Fprintln(out, "alice's machine resumes, still without a network. Her lease has not ended yet.")
		return err
	})
	if err != nil {
		return err
	}
	left, err := read(ctx, db)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The account had %d. %d was paid out, and %d is left: %d is lost.\n",
		opening, paid, left, paid+left-opening)
	return nil
}

// opening is the balance before the story. Each teller pays out the amount.
const opening, amount = 100, 60

const schema = `CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL, teller TEXT NOT NULL DEFAULT '',
	fence_token INTEGER NOT NULL DEFAULT 0, fence_owner TEXT NOT NULL DEFAULT '');
INSERT INTO account (id, balance) VALUES (1, ?)`

func openBank(ctx context.Context) (*sql.DB, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection has its own memory
	if _, err := db.ExecContext(ctx, schema, opening); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
