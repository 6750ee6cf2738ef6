//go:build unix

package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/recipes/locks"
)

// accounts are rows that have a balance, and the columns of fencesql.
var accounts = fencesql.Table{Dialect: fencesql.SQLite, Name: "account", Key: "id"}

// teller pays out of an account. All tellers take turns, by a lock.
type teller struct {
	name     string
	lock     *locks.InterProcessMutex
	db       *sql.DB
	unfenced bool
	decide   func(balance int) // takes its time
}

// withdraw writes the new balance. If it returns nil, the teller pays out.
//
// The claim raises the fencing token in the row before the balance is read. So the
// balance is what all former holders of the lock have left, and none of them can change
// it any more.
func (t teller) withdraw(ctx context.Context, amount int) error {
	lease, err := t.lock.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = lease.Release(ctx) }() // it may be lost
	if err := t.update(ctx, lease, "teller = ?", t.name); err != nil {
		return err
	}
	var balance int
	if err := t.db.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = 1").Scan(&balance); err != nil {
		return err
	}
	if balance < amount {
		return fmt.Errorf("a balance of %d is too low", balance)
	}
	return t.update(ctx, slow{lease, func() { t.decide(balance) }}, "balance = ?", balance-amount)
}

// update writes to the account under a lease, if it is fenced. Otherwise it only looks
// at the lease before it writes.
func (t teller) update(ctx context.Context, lease fencesql.Lease, set string, arg any) error {
	if !t.unfenced {
		return accounts.Update(ctx, t.db, lease, 1, set, arg)
	}
	if lease.Context().Err() != nil {
		return context.Cause(lease.Context())
	}
	_ = lease.FencingToken() // nothing compares it
	_, err := t.db.ExecContext(ctx, "UPDATE account SET "+set+" WHERE id = 1", arg)
	return err
}

// slow is a lease whose holder takes its time at the worst moment: it has looked at the
// context, and has not sent its write.
type slow struct {
	*locks.Lease
	wait func()
}

func (s slow) FencingToken() int64 {
	s.wait()
	return s.Lease.FencingToken()
}
