// Package memnet is a network in memory: connections made of two bounded byte
// queues, which behave as TCP connections do. Everything in it waits on condition
// variables and timers. It therefore works in the virtual time of testing/synctest,
// where sockets do not.
package memnet
