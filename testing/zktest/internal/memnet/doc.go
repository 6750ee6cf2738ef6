// Package memnet is a network in memory. A connection has two bounded queues of bytes, and
// behaves like a TCP connection. All waits use condition variables and timers, so the package
// works in the virtual time of testing/synctest, where sockets do not work.
package memnet
