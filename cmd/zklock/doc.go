// Zklock is for shells and operators: it runs commands under locks and leaderships of
// ZooKeeper, and waits for locks. Go processes, Java processes with Curator, and zklock
// share the same locks.
//
//	zklock run -w 60 /jobs/bill -- psql -v token={token} -f bill.sql
//	zklock elect --restart /services/scheduler -- ./scheduler
//	zklock wait /jobs/bill
//
// zklock stops the command and all its descendants before the servers can hand the lock
// to another process, even if zklock is killed. README.md is the page for users.
// "zklock help" lists the commands and the common flags.
//
// # How to add a command
//
// A command is one value of type command, in its own file, and an entry in the table
// commands. Package cli makes the help, the usage errors and the completion from that
// value.
package main
