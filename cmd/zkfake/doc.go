// Zkfake is testing/zktest as a program: a ZooKeeper server, or an ensemble of
// them, for the test suites of clients in any language. It starts at once,
// needs no Java and no disk, and forgets everything when it ends.
//
//	go install github.com/gocurator/curator/cmd/zkfake@latest
//
//	zkfake
//	zkfake -listen 127.0.0.1:0
//	zkfake -members 3 -control 127.0.0.1:2180
//
// A suite should start the installed program and not use go run, which does not pass
// signals on.
//
// The first line of output is "listening on" and the address, or the addresses
// with commas between them. With -control the second line is "control on" and
// the URL of the remote control. On SIGINT or SIGTERM, or if the remote control
// asks it to exit, the program prints how many requests of each type it has
// served, and which sessions, watches and nodes are left.
//
//	-listen host:port     without a host: the loopback interface
//	-members n            an ensemble of n members: the first one is on the port
//	                      of -listen, and the others are on the ports that
//	                      follow; with port 0 each takes a free one
//	-control host:port    the remote control; off by default
//	-version 3.8.0        behave as this version: 3.9.3 or 3.8.0
//	-tick duration        sessions expire only at multiples of this duration
//	-minsession duration  the shortest session timeout that clients get
//	-maxsession duration  the longest one; a real server has 2 and 20 ticks
//	-containercheck d     time between two looks for empty containers and for
//	                      nodes whose TTL is over
//	-sasl-user name       authenticate this user by SASL, with DIGEST-MD5
//	-sasl-password-file f a file whose first line is the user's password
//
// With -listen 0.0.0.0:2181 the server listens on all interfaces. With -tick
// sessions expire as at a real server.
//
// The exit status is 0 at the end, 1 if the program cannot listen, and 2 if
// the command line is invalid.
//
// # Remote control
//
// The remote control is HTTP: a suite stops and restarts servers, expires its
// own session, or reads the tree, with any HTTP client. GET / returns the list
// of requests; the text is also in control.txt. The remote control has no
// password and can do anything to the server. It therefore listens on a
// loopback address only, and refuses requests that a web page could make a
// browser send.
//
//	curl -X POST 127.0.0.1:2180/stop
//	curl -X POST 127.0.0.1:2180/restart
//	curl -X POST 127.0.0.1:2180/sessions/0x10000a3f0c20001/expire
//	curl 127.0.0.1:2180/tree
//
// Tests in Go should use package testing/zktest itself, which also has virtual time and
// faults that hit a single request. Its documentation lists what the server models and
// what it does not.
package main
