// Package recipes is the index of the coordination recipes. It has no code:
// each recipe is in the package of its family.
//
//	use this                           if you want that
//	---------------------------------  --------------------------------------
//	locks.InterProcessMutex            one process at a time to do something
//	  ... with WithLocalHandOver       the same, for many goroutines
//	locks.InterProcessReadWriteLock    many to look at something at once, and
//	                                   one alone to change it
//	locks.InterProcessSemaphore        no more than n to do something at once,
//	                                   or some to need several of n pieces
//	locks.InterProcessSemaphoreMutex   one at a time, where a second acquire
//	                                   under the first must wait
//	locks.InterProcessMultiLock        several locks, all or none of them
//	leader.Latch                       one of several processes to do, for as
//	                                   long as it lives, what all could, and
//	                                   the next to take over at once
//	leader.Selector                    the same for a function that returns,
//	                                   and the next to wait for that
//	leader.Observe                     to know who leads, without standing
//	nodes.PersistentNode               others to find this process, for as
//	                                   long as it lives
//	nodes.PersistentNode, WithTTL      the same, through restarts
//	nodes.Group                        to know which processes there are
//	shared.Count, shared.Value         a limit, a switch or a setting that all
//	                                   processes share and hear of
//	cache.Cache                        a part of the tree in memory, always
//	                                   equal to it as of one transaction
//	atomic.Long, Int, Value            a number or a value that many change,
//	                                   each change once
//	atomic.Sequence                    unique numbers that rise
//	inspect.Walk                       to see who holds and waits for what,
//	                                   of Go, Java and Python
//	inspect.WaitGraph                  to find the processes of a deadlock
//	barriers.Barrier                   to hold others up until something is done
//	barriers.DoubleBarrier             n processes to begin together, and to
//	                                   end together
//	fence.Guard                        a resource to refuse the writes of a
//	                                   holder that has lost its lock
//	locktrace.Tracer                   your own tracing system; package
//	                                   tracing is for OpenTelemetry
//
// Paths, node names and modes are those of Apache Curator's recipes, so that
// Java and Go processes may contend for the same lock. The tests of package
// testing/interop prove it with real Java Curator.
//
// Some things go on in the background: nodes, candidacies, caches and shared
// values. They outlast every interruption, every loss of the session, and every
// answer of a server in trouble, and log what lasts. A refusal of a request ends
// them: for want of rights, or because of what was asked for. When all servers
// refuse the client's credentials, that ends what others rely on, such as a node
// or a candidacy, and every call of package atomic. A cache and a shared value,
// on which nobody else relies, keep what they have, and go on when a server
// takes the credentials.
//
// Each package says in its documentation what a loss of the session does, and
// lists its promises in GUARANTEES.md, with the tests that hold them.
package recipes
