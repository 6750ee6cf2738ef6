// Package queue leads from an acquire to a claim: it takes a place among the
// goroutines of the process, then one in the server's queue, and explains the
// attempts that fail. Locks and leaders configure a [Queue] of their own.
//
//	config.go       what a recipe and its user choose
//	queue.go        the way to a claim at the server
//	local.go        the way there through the process, and the hand-over
//	minimumhold.go  a lock that stays for a while when it is released
//	localqueue.go   the goroutines of one client that want one lock
//	localqueues.go  all such queues
//	memory.go       what they have seen of the server's queue
//	cached.go       a lock that stays in the process when nobody has it
//	joint.go        readers that share a node
//	idle.go         how many such locks a client keeps
//	try.go          a try that is refused before it begins
//	line.go         their order
//	attempt.go      one acquire, from its begin to its end, for the tracer
//	errors.go       why an attempt was not admitted
//	participants.go who is in the server's queue
package queue
