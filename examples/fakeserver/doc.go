// Fakeserver is testing/zktest as a program: a ZooKeeper server on a port, for
// clients in any language and for their test suites. It starts at once, needs
// no Java and no disk, and forgets everything when it ends.
//
//	go run ./examples/fakeserver
//	go run ./examples/fakeserver -listen 127.0.0.1:0
//
// The first line of output is "listening on" and the address. On SIGINT or
// SIGTERM the program prints how many requests of each type it has served, and
// which sessions, watches and nodes are left.
//
//	-listen host:port     without a host: the loopback interface
//	-super user:password  a user to whom no ACL applies
//	-quotas               enforce hard limits
//	-tick duration        let sessions expire at multiples of it only
//
// With -listen 0.0.0.0:2181 the server listens on all interfaces. With -tick
// sessions expire as at a real server.
//
// The exit status is 0 after a signal, 1 if the program cannot listen, and 2 if
// the command line is invalid.
//
// The documentation of package testing/zktest says what the server models and
// what it does not. Tests in Go should use that package itself, which also has
// virtual time and faults.
package main
