// Deadlock has two services that lock the same two things in opposite order.
// Each gets its first lock and waits for the other's, for ever. Nothing fails,
// and no log has a line. Package inspect names both from the nodes alone, and so
// does
//
//	zklock graph -r /
//
// which this program says on its own:
//
//	go run ./examples/deadlock
//
// It finds the deadlock, lets one service give up, and shows that the deadlock
// cannot happen if both take their locks in one order. Without -servers it uses
// an embedded server.
//
//	-stay                  leave them in it until Ctrl-C, or until a service fails
//	-servers host:port     use a real ensemble
//	-timeout d             without -stay: give up after this time
//
// With -stay it prints the command line for zklock, to try in another terminal.
//
// The exit status is 0 if all went as described, 1 if not, and 2 if the command
// line is invalid.
//
// # Reading the source
//
// The file service.go has the mistake, and its cure. The file find.go is what
// finds it, from another process if need be. The rest drives the demonstration.
package main
