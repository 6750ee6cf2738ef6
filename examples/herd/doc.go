// Herd shows what a lock costs when many wait for it: three designs, with 2, 20 and 200 clients that wait, and what each
// release and each newcomer makes the clients and the servers do.
//
//	go run ./examples/herd
//
// The designs are the ones that everybody comes to in turn: one node that everybody watches; a queue of sequential nodes
// whose parent everybody watches; and a queue in which each watches the one before it. The last is ZooKeeper's recipe,
// Curator's, and recipes.InterProcessMutex, which the program uses for it. In the other two each release wakes everybody
// for the benefit of one: the herd.
//
//	-waiters 2,20,200      how many wait
//	-releases 3            how many releases to average over
//	-servers host:port     use a real ensemble
//
// What is counted is what passes through the clients' connections, without pings and handshakes. It is the same from run
// to run, but for the bytes, which depend on the names of the host and of the program, and but for the length of the paths
// the same on an embedded server and on a real ensemble. (On one that is very
// slow, an InterProcessMutex may have one event and one request more: who holds it for a second watches its own node.)
// Mind that each waiter is a client of its own: a real server takes 60 connections from one address, unless its
// maxClientCnxns says otherwise.
//
// The exit status is 0, or 1 if something failed, or 2 if the flags cannot be used.
//
// # Reading the source
//
// locks.go has the three designs; the first two are what not to do. experiment.go makes clients wait and release,
// traffic.go counts what is on their connections, arena.go knows when a server has come to rest.
package main
