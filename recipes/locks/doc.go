// Package locks holds locks between processes that share a ZooKeeper ensemble: Curator's
// InterProcessMutex and its kin. A held lock is a [Lease], and a lease has a context:
//
//	mutex := locks.NewInterProcessMutex(client, "/locks/sku-42")
//	lease, err := mutex.Acquire(ctx) // ctx bounds the wait, not the lease
//	if err != nil {
//		return err // says how many contenders are ahead, and who holds the lock
//	}
//	defer lease.Release(ctx) // safe to call even if ctx is done, or in an outage
//
//	work, done := lease.WithContext(ctx) // ends with the lease, and with ctx
//	defer done()
//	return sell(work, lease.FencingToken())
//
// The lock is held exactly as long as [Lease.Context] is alive: work under that context,
// and stop when it ends. The short form uses one ctx for the wait and for the work:
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
// All of them implement [Locker]; for a read/write lock, each of its two sides does. A
// lock object is cheap and safe for concurrent use: make one for each request, or keep
// it. [Option] lists the options. A [ReleasePolicy] makes repeated locks of one process
// cheap, or makes a short job run once in a fleet. With an invalid path, every call
// returns an error that matches zk.ErrInvalidPath; with another invalid argument, a
// *framework.ConfigError, which matches zk.ErrBadArguments.
//
// Contenders are ephemeral sequential nodes below the lock's path. The lowest number holds
// the lock. A waiter watches the node right ahead, so a release wakes only the next
// waiter. When a process crashes, the server deletes its node at the end of the session.
//
// # Interruptions and the loss of the session
//
//   - While the connection is suspended, a holder keeps the lock, and a waiter keeps its
//     place. Under state.StandardPolicy, the lease ends at once.
//   - When the session is lost, the lease's context ends with framework.ErrSessionLost
//     before the server can delete the node. A waiter queues again in the next session.
//   - When ctx ends, an acquire leaves the queue at once and leaves no node.
//   - A release never fails for lack of a connection: the client retries in the background
//     until the node is gone.
//
// # Re-entry is by context
//
// An acquire under the context of a lease re-enters the lock. An acquire without that
// context is a separate contender, even in the goroutine of the holder. It then waits for
// itself, and its [NotAcquiredError] reports that. Goroutines that share a lease's context
// are inside together; use a sync.Mutex to exclude them from each other.
//
// # Limits
//
// A lease's context can end too late in three cases: the process is paused; a server is
// partitioned from its ensemble and keeps answering, which framework.WithStrictContact
// detects; or another client deletes the node. The next holder may then be admitted while
// the old one still acts. Only the resource can tell the two apart: by the
// [Lease.FencingToken], as package fence does, or by [Lease.Checks] for data in
// ZooKeeper.
//
// By default, every client that can reach a server may delete, revoke and block locks:
// see framework.WithACLProvider.
//
// Participants returns all contenders with their [Identity], and a [NotAcquiredError]
// names the holder. Package tracing turns waits and holds into spans and metrics.
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package locks
