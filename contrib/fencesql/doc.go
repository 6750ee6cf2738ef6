// Package fencesql makes a SQL database refuse the writes of a process that has lost
// its lock and does not know it.
//
// The context of a lease stops an honest holder in time. It does not stop a process
// that is paused after it has looked at its context, nor a statement that is already on
// its way to the database. The database can refuse both, because fencing tokens grow
// from holder to holder: it keeps the largest token with the data, and each write
// compares and raises that token in the statement that writes.
//
//	accounts := fencesql.Table{Dialect: fencesql.Postgres, Name: "account", Key: "id"}
//	err := accounts.Update(ctx, db, lease, 7, "balance = balance - $1", 10)
//	if errors.Is(err, fencesql.ErrStale) {
//		// another process has the lock, and has written to this account
//	}
//
// # Two places for the token
//
// A row of the user's table can have the columns fence_token and fence_owner.
// [Table.Update] and [Table.Upsert] fence each such row by itself.
//
// A table of guard rows has one row for each resource, whatever the resource consists
// of: a ledger, a directory of accounts, a queue. [Table.Exec] fences one query on other
// tables by a guard row, such as an INSERT. [Table.Within] fences a transaction.
//
// All writes to a resource must use the same row. A token in one place does not
// protect what only another place fences.
//
// # The rule
//
// A write is refused if its token is smaller than the token in the row. An equal token
// is admitted, and a larger one is written to the row. No release, deletion or timeout
// makes the token of a row smaller, and no clock is compared. A lease that has ended
// sends no statement at all.
//
// # What is not fenced
//
//   - Leases with the same token are not fenced from each other: those that re-enter a
//     lock, those that reuse its node by a locks.ReleasePolicy, and readers that share
//     a node. They are leases of one process, and a lease that has been released sends
//     no statement. But a statement that was on its way when its lease was released can
//     be executed after a write of the next lease. Wait for statements before Release.
//     A statement that was cancelled may still be on its way: the driver of MySQL closes
//     the connection, and the server goes on.
//   - The leases of a semaphore are valid at the same time. The one with the largest
//     token would refuse the others.
//   - A deleted row forgets its token, and a stale holder can insert the row again. Never
//     delete a guard row, and use one for rows that are deleted.
//   - A new holder fences with its first write. If it reads before, a paused holder
//     can still change what was read. Within raises the token before it reads.
//   - Tokens of a different lock, or of a different ensemble, mean nothing. One lock
//     guards a resource. A lease of a multi-lock has several tokens; pass the one of
//     Lease.Leases that guards the resource. An ensemble that was set up from nothing
//     counts from the beginning, so that all writes are refused until an operator sets
//     the tokens to 0.
//   - A write whose reply was lost may have been applied. This package never sends a
//     write twice, as database/sql may. If you do, fencing does not make that harmless.
//     An idempotency key does.
package fencesql
