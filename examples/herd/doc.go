// Herd shows what a lock costs when many clients wait for it. It compares three
// designs, each with 2, 20 and 200 waiting clients. For each it counts what a
// release and what a newcomer cause at the clients and the servers.
//
//	go run ./examples/herd
//
// People usually try the designs in this order:
//
//   - One node that all clients watch.
//   - A queue of sequential nodes, whose parent all clients watch.
//   - A queue in which each client watches the one before it. ZooKeeper's
//     recipes and Curator do this, and so does locks.InterProcessMutex, which
//     the program uses here.
//
// In the first two designs each release wakes all clients although only one can
// have the lock. This is called the herd effect.
//
//	-waiters 2,20,200      how many clients wait
//	-releases 3            how many releases to average over
//	-servers host:port     use a real ensemble, with 2, 20 and 50 waiters
//
// The program counts everything that passes through the clients' connections,
// except for pings and handshakes. The numbers are the same in every run, on an
// embedded server and on a real ensemble, with two exceptions:
//
//   - The bytes depend on the names of the host and of the program, and on the
//     length of the paths.
//   - On a very slow machine an InterProcessMutex may have one event and one
//     request more, because the holder watches its own node once it has held
//     the lock for a second.
//
// Each waiter is a separate client. A real server accepts 60 connections from
// one address, unless its maxClientCnxns says otherwise.
//
// The exit status is 0, or 1 if something failed, or 2 if the flags are
// invalid.
//
// # Reading the source
//
// The file locks.go has the three designs; the first two show what not to do.
// In experiment.go clients wait and release. The file traffic.go counts the
// traffic of their connections, and environment.go knows when a server is idle.
package main
