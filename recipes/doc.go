// Package recipes is the index of the coordination recipes. Each recipe is in the package
// of its family. Stream and Latest turn the loops that recipes return into channels, for
// use in a select.
//
//	use this                          if you want
//	--------------------------------  ------------------------------------------
//	locks.InterProcessMutex           one process at a time to do something
//	locks.InterProcessReadWriteLock   many readers at once, or one writer alone
//	locks.InterProcessSemaphore       at most n holders at once
//	locks.InterProcessSemaphoreMutex  a mutex that is not re-entrant
//	locks.InterProcessMultiLock       several locks, all or none of them
//	locks.WithReleasePolicy           cheap locks for one process, or a short
//	                                  job to run once in a fleet
//	leader.Latch                      one process to lead as long as it lives
//	leader.Selector                   the same for a function that returns
//	leader.Now, leader.Observe        to know the leader without candidacy
//	nodes.PersistentNode              other processes to find this one
//	nodes.PersistentNode, WithTTL     the same, through restarts
//	nodes.Group                       to know which processes are members
//	discovery.Registration            Go and Java to find a service's instances
//	discovery.Directory, Picker       to find and pick such instances
//	shared.Count, shared.Value        a setting that all processes follow
//	cache.Cache, cache.Read           a copy of a part of the tree in memory
//	atomic.Long, Int, Value           a value that many processes change
//	atomic.Sequence                   unique, increasing numbers
//	barriers.Barrier                  processes to wait until an operator is done
//	barriers.DoubleBarrier            n processes to begin and end together
//	fence.Guard                       a resource to refuse writes under lost locks
//	inspect.Walk                      to see who holds and who waits
//	inspect.WaitGraph                 to find the processes of a deadlock
//	locktrace.HookStartAcquire        to trace locks without OpenTelemetry
//
// Apache Curator's recipes have the same paths, node names and modes, so Java and Go
// processes may contend for the same lock.
//
// # What survives a failure
//
// Nodes, candidacies, caches and shared values run in the background. They continue after
// a lost connection, a lost reply and a lost session. They retry after failures of servers,
// with pauses of up to half a minute, and log each kind of failure. They end if a server
// refuses a request, if all servers refuse the client's credentials (zk.ErrAuthFailed), and
// if the client is closed. A cache and a directory survive refusals, and a shared value
// survives refused credentials, because no other process depends on the copy.
//
// Calls that wait return the error of a failing server, except calls of package atomic.
//
// # How a call ends a node
//
// In an outage, calls behave as follows:
//
//   - Release of a lease, and with it Do, Lead and Run, returns nil at once. The client
//     deletes the node in the background.
//   - Shutdown, Leave and Resign return an error when ctx or the connection timeout is
//     over. The client deletes the node in the background.
//   - Close of a shared value, a cache or a directory returns nil at once, and deletes
//     nothing.
//   - Close of the client tries to end the session for a second, and leaves the nodes to
//     the servers.
//
// Shutdown, Leave and Resign retry after a temporary error of a server, and return nil when
// a server has confirmed that the node is gone. Selector.Resign and HandOver first wait for
// the leader's work. All of them return earlier if ctx ends, or with one of these errors:
//
//   - framework.ErrNotConnected, or zk.ErrAuthFailed if the servers refuse the client's
//     credentials: there was no connection for as long as the connection timeout.
//   - framework.ErrLeftToServers: the session is lost or the client is closed, and no
//     server has confirmed the end of the session. (framework.ErrClosed for a node of no
//     session.)
//   - The server's error, if a server refuses the deletion.
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package recipes
