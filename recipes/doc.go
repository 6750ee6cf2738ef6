// Package recipes is the index of the coordination recipes. Each recipe is in the
// package of its family. Stream and Latest make channels of the loops that recipes
// return, for a select.
//
//	use this                           if you want that
//	---------------------------------  --------------------------------------
//	locks.InterProcessMutex            one process at a time to do something
//	  ... with WithReleasePolicy       the same, for many goroutines, or if most
//	                                   often it is the one that had the lock
//	                                   last, or for a short job in a fleet
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
//	leader.Now, leader.Observe         to know who leads, without standing
//	nodes.PersistentNode               others to find this process, for as
//	                                   long as it lives
//	nodes.PersistentNode, WithTTL      the same, through restarts
//	nodes.Group                        to know which processes there are
//	discovery.Registration             the instances of a service to be found,
//	discovery.Directory, Picker        also by Java processes, and to find and
//	                                   to pick them
//	shared.Count, shared.Value         a limit, a switch or a setting that all
//	                                   processes share and hear of
//	cache.Cache                        a part of the tree in memory, always
//	                                   equal to it as of one transaction
//	cache.Read                         the same, once
//	atomic.Long, Int, Value            a number or a value that many processes
//	                                   change, with no change applied twice
//	atomic.Sequence                    unique numbers that rise
//	inspect.Walk                       to see who holds what, and who waits:
//	                                   Go, Java and Python processes
//	inspect.WaitGraph                  to find the processes of a deadlock
//	barriers.Barrier                   processes to wait until an operator is done
//	barriers.DoubleBarrier             n processes to begin together, and to
//	                                   end together
//	fence.Guard                        a resource to refuse the writes of a
//	                                   holder that has lost its lock
//	locktrace.HookStartAcquire         your own tracing system; package
//	                                   tracing is for OpenTelemetry
//
// Apache Curator's recipes have the same paths, node names and modes, so Java
// and Go processes may contend for the same lock. The tests of package
// testing/interop prove it with real Java Curator.
//
// # What ends, and what goes on
//
// Nodes, candidacies, caches and shared values go on in the background. Loops
// over nodes.Group.Changes and leader.Observe, and leader.Selector.Run while it
// waits for the leadership, go on until their caller leaves.
// This is what follows when something happens to them:
//
//	the connection or a reply is lost   they go on with the next connection
//	the session is lost                 they go on in the next session
//	a server is in trouble and says     they try again, after pauses of up to
//	so, or a parent is missing          half a minute; what runs in the
//	                                    background logs each kind of trouble
//	a request is refused, for want of   they end with that error
//	rights or for what was asked for
//	all servers refuse the client's     they end with zk.ErrAuthFailed, so that
//	credentials                         those who rely on them know
//	the client is closed                they end
//
// Some recipes deviate:
//
//   - A cache, a directory, a view of a group and a shared value keep what they have
//     while servers refuse the credentials, and go on when one takes them: nobody
//     else relies on a copy.
//   - A cache and a view of a group go on without the data of a node that may
//     not be read, and say so: the other nodes are what they are for. A cache,
//     and a directory on it, outlasts any refusal.
//   - A persistent node that was shut down is deleted when a server takes the
//     credentials: nobody relies on it any more.
//   - A persistent node with the policy nodes.Fail ends when somebody else has
//     its path, which is what the policy is for.
//   - An instance of a discovery.Registrar goes on after refusals, because the
//     server that has called Register does not ask again.
//   - A member inside a double barrier ends with its session.
//   - A holder that may not read its own node keeps its lock, which does not
//     depend on that, and goes on trying to read.
//   - Calls of package atomic wait through a server's trouble until their
//     context ends, but pause for no more than five seconds at a time, because
//     somebody waits.
//   - Other calls that wait, such as an acquire or the entry of a barrier,
//     return the error of a server in trouble: their caller knows better what
//     to do.
//
// # How a call ends a node
//
// In an outage, calls do one of these, and the documentation of each has the same words:
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
// Shutdown, Leave and Resign return nil when a server has said that the node is gone.
// They return earlier, with an error, if one of these comes first:
//
//	the context ends                   the context's error
//	there was no connection for as     framework.ErrNotConnected, or
//	long as the connection timeout     zk.ErrAuthFailed if the servers refuse
//	                                   the client's credentials
//	the session is lost                framework.ErrLeftToServers, or nil if a
//	                                   server has said that it has ended the
//	                                   session
//	the client is closed               framework.ErrLeftToServers, or nil if
//	                                   Close has reached a server; for a node
//	                                   of no session, framework.ErrClosed
//	a server refuses the deletion      the server's error
//
// A server that answers with an error that may pass is asked again. The error names the
// last one and, if the session is over by then, also matches [framework.ErrLeftToServers],
// which says when the servers delete the node at the latest. Unless the server has
// refused the deletion, the client deletes the node when it has a connection. A later
// call waits again, under its own context.
//
// Selector.Resign and HandOver wait for the leader's work first, as long as their
// context allows, and then for the node by this rule.
//
// The documentation of each package says what a loss of the session does.
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package recipes
