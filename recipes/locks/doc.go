// Package locks holds locks between processes that share a ZooKeeper ensemble:
// Curator's InterProcessMutex and its kin. A held lock is a [Lease], and a
// lease has a context:
//
//	mutex := locks.NewInterProcessMutex(client, "/locks/sku-42")
//	lease, err := mutex.Acquire(ctx) // ctx bounds the wait, not the lease
//	if err != nil {
//		return err // says how many are ahead, and who holds the lock
//	}
//	defer lease.Release(ctx) // right for any ctx, also in an outage
//
//	work, done := lease.WithContext(ctx) // ends with the lease, and with ctx
//	defer done()
//	return sell(work, lease.FencingToken())
//
// The lock is held exactly as long as [Lease.Context] is alive: work under it,
// and stop when it ends. No method asks whether a lock is held, because the
// answer could be old when it arrives. The short form has one ctx for the wait
// and for the work:
//
//	err := mutex.Do(ctx, func(ctx context.Context) error { return sell(ctx) })
//
// # Which lock
//
//   - [InterProcessMutex]: one holder at a time.
//   - [InterProcessReadWriteLock]: many readers, or one writer.
//   - [InterProcessSemaphore]: no more than a limit of leases at once.
//   - [InterProcessSemaphoreMutex]: a mutex that is not re-entrant.
//   - [InterProcessMultiLock]: several locks, all or none of them.
//
// All are a [Locker]; of a read/write lock, its two sides are. An object is
// cheap and safe for concurrent use: make one for each request, or keep it. An
// [Option] is for every lock, a [MutexOption] for an InterProcessMutex, and a
// [ReadWriteOption] for an InterProcessReadWriteLock. A [ReleasePolicy] hands a lock
// over within the process, makes a lock that the same process takes again and again
// cost no request, or makes a short job run once in a fleet. A path that cannot be
// used is an error of every call and matches zk.ErrInvalidPath. Any other such value
// is a *framework.ConfigError and matches zk.ErrBadArguments.
//
// # How it works
//
// Each contender creates an ephemeral sequential node below the lock's path.
// The server numbers them, and the lowest number holds the lock. A waiter
// watches the node right ahead of its own, so that a release wakes the next waiter,
// and not all. When a process crashes, the server deletes its node at the end of
// the session. All goroutines of one client that want one lock have one node between
// them. They wait for it in the order of their arrival; readers share it.
//
// # Trying
//
// TryAcquire makes a node, and deletes it if others are ahead: two writes. If that
// was in vain, tries of the same object look first for a second, by reads alone,
// and are refused if others are ahead still. So keep the object if you try again
// and again. A first try does not look, because a look costs a round trip
// more when the lock is free. A try of a mutex or a read/write lock that this
// client has itself is refused without a request.
//
// A refusal is true: others are ahead after the call has begun. So a try gets a
// lock that its caller knows to be free. A server that lags behind misleads no
// look, because it catches up first, as by framework.Client.Sync. Both requests of a
// look take one round trip. A semaphore reads its shared limit, too.
// But a client of the ensemble's leader may see a holder that has just released or,
// if that leader is cut off, one that has released some seconds ago. Ways out are
// framework.WithStrictContact, by which each look costs a write, and Acquire with a
// short deadline.
//
// # Interruptions and the loss of the session
//
//   - While the connection is suspended, a holder goes on holding, and a waiter
//     keeps its place. Under state.StandardPolicy, the lease ends at once.
//   - When the session is lost, the lease's context ends with
//     framework.ErrSessionLost, before the server can delete the node. A waiter
//     queues again in the next session.
//   - When ctx ends, an acquire leaves the queue at once, and leaves no node.
//   - A release never fails for want of a connection: the client goes on until
//     the node is gone.
//
// # Re-entry is by context
//
// Java's locks belong to a thread, and Go has no such thing. An acquire under
// the context of a lease re-enters the lock. An acquire without it is another
// contender, even in the goroutine of the holder: it waits for itself, and its
// [NotAcquiredError] says so. Goroutines that share a lease's context are
// inside together; a sync.Mutex excludes them from each other.
//
// # Limits
//
// A lease's context cannot end in time in a process that is stopped, nor at a
// server that is cut off from its ensemble and goes on answering, which
// framework.WithStrictContact cures, nor before somebody deletes the node. The
// next holder may be admitted while the old one still acts. Only the resource
// can tell them apart, by the [Lease.FencingToken], as package fence does, or
// by [Lease.Checks] for data in ZooKeeper.
//
// By default, everybody who reaches a server may delete, revoke and block
// locks: see framework.WithACLProvider. A contender that may not read the node
// right ahead gets zk.ErrNoAuth (CVE-2024-23944).
//
// # Who holds what
//
// Each node says in an [Identity] who its owner is: service, host and process;
// see framework.WithServiceName and [WithNodeData]. Participants returns all
// contenders with their identities, and a [NotAcquiredError] has the holder's.
// With package tracing, waits and holds are spans and metrics. Without it, the
// client's logger gets a line for each lock that is lost. [GUARANTEES.md] lists
// what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package locks
