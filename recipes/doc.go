// Package recipes is the index of the coordination recipes. Each recipe is in the package
// of its family. Stream and Latest turn the loops that recipes return into channels, for
// use in a select.
//
//	use this                           if you want
//	---------------------------------  --------------------------------------
//	locks.InterProcessMutex            one process at a time to do something
//	  ... with WithReleasePolicy       the same for many goroutines, for a lock
//	                                   that one process takes repeatedly, or
//	                                   for a short job in a fleet
//	locks.InterProcessReadWriteLock    many readers at once, or one writer alone
//	locks.InterProcessSemaphore        at most n holders at once, each with one
//	                                   or several leases
//	locks.InterProcessSemaphoreMutex   a mutex that is not re-entrant
//	locks.InterProcessMultiLock        several locks, all or none of them
//	leader.Latch                       one of several processes to lead as long
//	                                   as it lives, and the next to take over
//	                                   at once
//	leader.Selector                    the same for a function that returns; the
//	                                   next leader waits for the return
//	leader.Now, leader.Observe         to know the leader without being a
//	                                   candidate
//	nodes.PersistentNode               other processes to find this one as long
//	                                   as it lives
//	nodes.PersistentNode, WithTTL      the same, through restarts
//	nodes.Group                        to know which processes are members
//	discovery.Registration             other processes, also in Java, to find the
//	                                   instances of a service
//	discovery.Directory, Picker        to find and pick such instances
//	shared.Count, shared.Value         a limit, a switch or a setting that all
//	                                   processes share and follow
//	cache.Cache                        a copy of a part of the tree in memory,
//	                                   always as of one transaction
//	cache.Read                         the same, read once
//	atomic.Long, Int, Value            a shared number or value; every update is
//	                                   applied exactly once
//	atomic.Sequence                    unique, increasing numbers
//	inspect.Walk                       to see holders and waiters in Go, Java
//	                                   and Python processes
//	inspect.WaitGraph                  to find the processes of a deadlock
//	barriers.Barrier                   processes to wait until an operator is done
//	barriers.DoubleBarrier             n processes to begin together and to end
//	                                   together
//	fence.Guard                        a resource to refuse the writes of a
//	                                   holder that has lost its lock
//	locktrace.HookStartAcquire         to use your own tracing system; package
//	                                   tracing is for OpenTelemetry
//	locktrace.HookHoldEnded            to count lost locks
//
// Apache Curator's recipes have the same paths, node names and modes, so Java and Go
// processes may contend for the same lock. The tests in testing/interop prove it with
// real Java Curator.
//
// # What survives a failure
//
// Nodes, candidacies, caches and shared values run in the background. Loops over
// nodes.Group.Changes and leader.Observe run until their caller leaves them, and so does
// leader.Selector.Run while it waits for the leadership. This is how they react to
// failures:
//
//	the connection or a reply is lost   they continue with the next connection
//	the session is lost                 they continue in the next session
//	a server reports a failure, or      they retry after pauses of up to half a
//	a parent is missing                 minute; background work logs each kind
//	                                    of failure
//	a server refuses a request, for     they end with the server's error
//	lack of rights or because it is
//	invalid
//	all servers refuse the client's     they end with zk.ErrAuthFailed, so that
//	credentials                         their users notice
//	the client is closed                they end
//
// Some recipes deviate:
//
//   - A cache, a directory, a view of a group and a shared value keep their data while
//     servers refuse the credentials, and continue when a server accepts them. Keeping a
//     copy is safe, because no other process depends on it.
//   - A cache and a view of a group mark nodes that they may not read, and continue with
//     all other nodes. A cache, and a directory on it, survives any refusal.
//   - The node of a persistent node that was shut down is deleted as soon as a server
//     accepts the credentials, because no process depends on the node any more.
//   - A persistent node with the policy nodes.Fail ends when another client's node is at
//     its path, as the policy demands.
//   - An instance of a discovery.Registrar retries after refusals, because a server
//     program calls Register only once.
//   - A member inside a double barrier ends with its session.
//   - A holder that may not read its own node keeps its lock, which does not depend on the
//     read, and keeps trying to read the node.
//   - Calls of package atomic retry after a server's failure until their context ends, but
//     pause for at most five seconds, because a caller waits.
//   - Other calls that wait, such as an acquire or the entry of a barrier, return the
//     error of a failing server: their caller can decide better what to do.
//
// # How a call ends a node
//
// In an outage, calls behave as follows. The documentation of each call uses the same
// words:
//
//	Release of a lease, and with it    returns nil at once, and the client
//	Do, Lead and Run                   deletes the node in the background
//	Shutdown, Leave and Resign         returns an error when ctx or the
//	                                   connection timeout is over, and the
//	                                   client deletes the node in the
//	                                   background
//	Close of a shared value, a cache   returns nil at once, and deletes nothing
//	or a directory
//	Close of the client                tries to end the session for a second,
//	                                   and leaves the nodes to the servers
//
// Shutdown, Leave and Resign return nil when a server has confirmed that the node is
// gone. They return earlier, with an error, if one of these comes first:
//
//	the context ends                   the context's error
//	there was no connection for as     framework.ErrNotConnected, or
//	long as the connection timeout     zk.ErrAuthFailed if the servers refuse
//	                                   the client's credentials
//	the session is lost                framework.ErrLeftToServers, or nil if a
//	                                   server has confirmed that it has ended
//	                                   the session
//	the client is closed               framework.ErrLeftToServers, or nil if
//	                                   Close has reached a server; for a node
//	                                   of no session, framework.ErrClosed
//	a server refuses the deletion      the server's error
//
// After a temporary error of a server, these calls retry. The returned error includes the
// last error of a server. If the session is over by then, the returned error also matches
// [framework.ErrLeftToServers], which says when the servers delete the node at the
// latest. Unless the server has refused the deletion, the client deletes the node when it
// has a connection, or waits until the servers have deleted a persistent node of a lost
// session. A later call waits again, under its own context.
//
// Selector.Resign and HandOver first wait for the leader's work, as long as their context
// allows, and then for the node as described here.
//
// The documentation of each package describes the effects of a lost session.
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package recipes
