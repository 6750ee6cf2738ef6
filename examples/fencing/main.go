//go:build unix

// Fencing stops the holder of a lock (SIGSTOP) until its session has timed out and its
// successor has worked. Then the stopped process goes on with its write, and the
// database refuses it.
//
//	go run ./examples/fencing
//	go run ./examples/fencing -unfenced   # the same without a fence: money is lost
//
// The part to copy is teller.go. The database is a file of SQLite.
//
// The exit status is 0 if no money was lost, 3 if some was, 1 if something failed, and
// 2 for wrong arguments.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gocurator/curator/examples/internal/demo"
)

// moneyLost is an exit status, next to the statuses of package demo.
const moneyLost = 3

func main() {
	runIfTeller()
	os.Exit(run(demo.UntilInterrupt(), os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var unfenced, lost bool
	status := demo.Run(ctx, "fencing", func(ctx context.Context, stage demo.Stage) (err error) {
		lost, err = losesMoney(ctx, stage, unfenced)
		return err
	}, args, stdout, stderr, func(fs *flag.FlagSet) {
		fs.BoolVar(&unfenced, "unfenced", false, "write without a fence")
	})
	if status == demo.AsExpected && lost {
		return moneyLost
	}
	return status
}

// opening is the balance before the story.
const opening = 100

const schema = `CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL, teller TEXT NOT NULL DEFAULT '',
	fence_token INTEGER NOT NULL DEFAULT 0, fence_owner TEXT NOT NULL DEFAULT ''); INSERT INTO account (id, balance) VALUES (1, ?)`

// losesMoney tells the story, and compares what was paid out with what is left.
func losesMoney(ctx context.Context, stage demo.Stage, unfenced bool) (bool, error) {
	dir, err := os.MkdirTemp("", "fencing")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	dsn := "file:" + filepath.Join(dir, "bank.db") + "?_pragma=busy_timeout(10000)"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return false, err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, schema, opening); err != nil {
		return false, err
	}
	s := &tellers{ctx: ctx, out: stage.Out, args: []string{stage.Servers, dsn, fmt.Sprint(unfenced)}}
	paid := stopAlice(s, unfenced)
	if err := s.wait(); err != nil {
		return false, err
	}
	var balance int
	if err := db.QueryRowContext(ctx, "SELECT balance FROM account").Scan(&balance); err != nil {
		return false, err
	}
	lost := paid + balance - opening
	fmt.Fprintf(stage.Out, "The account had %d. %d was paid out, and %d is left: %d is lost.\n", opening, paid, balance, lost)
	return lost != 0, nil
}

// stopAlice stops a teller between its last look at its lease and its write, until
// another one has the lock and has paid out. It returns what both have paid out.
func stopAlice(s *tellers, unfenced bool) (paid int) {
	alice := s.start("alice")
	s.says(alice, fmt.Sprintf(hasRead, opening))
	s.signal(alice, syscall.SIGSTOP, "is stopped (SIGSTOP). bob waits until her session times out.")
	bob := s.start("bob")
	s.says(bob, fmt.Sprintf(hasRead, opening))
	s.goOn(bob)
	s.says(bob, hasPaid)
	s.signal(alice, syscall.SIGCONT, "goes on (SIGCONT), and knows nothing of that.")
	s.goOn(alice)
	if unfenced {
		s.says(alice, hasPaid)
		return 2 * amount
	}
	s.says(alice, refused)
	return amount
}
