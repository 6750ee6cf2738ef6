// Fakeserver is testing/zktest as a program: a ZooKeeper server on a port, for clients in any language and for their own
// test suites. It starts at once, needs no Java and no disk, and forgets everything when it ends.
//
//	go run ./examples/fakeserver
//	go run ./examples/fakeserver -listen 127.0.0.1:0
//
// The first line it prints is "listening on" and the address. On an interrupt, or when it is terminated, it prints what
// was asked of it: the requests by type, and the sessions, watches and nodes that are left.
//
//	-listen host:port     without a host, it is the loopback interface; 0.0.0.0 has to be asked for
//	-super user:password  somebody to whom no ACL applies
//	-quotas               enforce hard limits
//	-tick duration        let sessions expire at multiples of it, as a real server does
//
// The exit status is 0 after a signal, 1 if it cannot listen, and 2 if the command line cannot be used.
//
// The package documentation of testing/zktest says what is modelled, and what is not. In Go tests use that package
// itself: it has virtual time and faults as well.
package main
