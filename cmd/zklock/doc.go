// Zklock is for shells and operators: it runs commands under locks and
// leaderships of ZooKeeper, and waits for locks. Go processes, Java Curator's
// and zklock's share the same locks.
//
//	zklock run -w 60 /jobs/bill -- psql -v token={token} -f bill.sql
//	zklock elect --restart /services/scheduler -- ./scheduler
//	zklock wait /jobs/bill
//
// The command is stopped before the server can give its lock to somebody else,
// and nothing of it outlives the lock, also if zklock is killed. README.md is the
// page for users. "zklock help" lists the commands and the common flags.
//
// # For those who add a command
//
// A command is one value of type command, in a file of its own, and an entry in
// the table commands. Package cli makes its help, its usage errors and
// the completion from that value.
package main
