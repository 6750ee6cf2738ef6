// Package fencesql makes a SQL database refuse writes from a process that has lost its
// lock without noticing.
//
// The context of a lease stops an honest holder in time. The context does not stop a
// process that is paused right after a check of the context, or a statement that is
// already on its way to the database. The database can refuse both, because fencing
// tokens grow from holder to holder: the largest token is kept with the data, and each
// statement that writes also compares and raises that token.
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
// A table of guard rows has one row for each resource, such as a ledger, a directory of
// accounts, or a queue. [Table.Exec] fences one query on other tables by a guard row,
// such as an INSERT. [Table.Within] fences a transaction.
//
// All writes to a resource must use the same row. A token in one row does not fence
// writes that compare another row's token.
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
//   - Leases with the same token are not fenced from each other: leases that re-enter a
//     lock, leases that reuse its node by a locks.ReleasePolicy, and readers that share
//     a node. Such leases belong to one process, and a released lease sends no
//     statement. But a statement that was on its way when its lease was released can be
//     executed after a write of the next lease. Wait for statements before Release. A
//     cancelled statement may still be on its way: MySQL's driver closes the
//     connection, but the server continues.
//   - The leases of a semaphore are valid at the same time. The lease with the largest
//     token would make the database refuse the other leases.
//   - A deleted row forgets its token, and a stale holder can insert the row again. Never
//     delete a guard row, and use one for rows that are deleted.
//   - A new holder fences with its first write. If the new holder reads before that, a
//     paused holder can still change the data that was read. Within raises the token
//     before it reads.
//   - Tokens of a different lock, or of a different ensemble, mean nothing. One lock
//     guards a resource. A lease of a multi-lock has several tokens; pass the lease
//     from Lease.Leases that guards the resource. The tokens of a new ensemble start
//     from zero, so the database refuses all writes until an operator sets its tokens
//     to 0.
//   - A write whose reply was lost may have been applied. This package never sends a
//     write twice, although database/sql may do so. If you do, fencing does not make
//     that harmless. An idempotency key does.
package fencesql
