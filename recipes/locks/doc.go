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
// and stop when it ends. There is no method that asks whether a lock is held, because the
// answer could be outdated on return. The short form uses one ctx for the wait and for
// the work:
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
// it. An [Option] configures every lock, a [MutexOption] an InterProcessMutex, and a
// [ReadWriteOption] an InterProcessReadWriteLock. A [ReleasePolicy] hands a lock over
// within the process, lets one process take the same lock repeatedly without a request,
// or makes a short job run once in a fleet. If the path is invalid, every call returns an
// error that matches zk.ErrInvalidPath. For any other invalid argument the error is a
// *framework.ConfigError and matches zk.ErrBadArguments.
//
// # How it works
//
// Each contender creates an ephemeral sequential node below the lock's path. The server
// numbers the nodes, and the lowest number holds the lock. A waiter watches the node
// right ahead, so a release wakes only the next waiter. When a process crashes, the
// server deletes its node at the end of the session. All goroutines of one client that
// want the same lock use one node together. The goroutines wait in the order of their
// arrival; readers share the node.
//
// # Trying
//
// TryAcquire creates a node, and deletes the node if other contenders are ahead: two
// writes. After such a failed try, the next tries of the same object within a second
// first read the queue, and fail without a write if other contenders are still ahead. So
// keep the object if you try repeatedly. A first try does not read first, because the
// read would cost one more round trip when the lock is free. A try of a mutex or a
// read/write lock that this client already holds fails without a request.
//
// A failed try means that other contenders were ahead after the call began. So a try gets
// a lock that its caller knows to be free. This holds even if the server lags behind,
// because the server catches up before the read, as by framework.Client.Sync; the sync
// and the read take one round trip together. For a semaphore, the shared limit is read as
// well. There is one exception: a client of the ensemble's leader may see a holder that
// has just released the lock or, if that leader is partitioned, a holder that released it
// some seconds ago. To avoid this, use framework.WithStrictContact, which makes each read
// cost a write, or Acquire with a short deadline.
//
// # Interruptions and the loss of the session
//
//   - While the connection is suspended, a holder keeps the lock, and a waiter keeps its
//     place. Under state.StandardPolicy, the lease ends at once.
//   - When the session is lost, the lease's context ends with framework.ErrSessionLost
//     before the server can delete the node. A waiter queues again in the next session.
//   - When ctx ends, an acquire leaves the queue at once, and leaves no node behind.
//   - A release never fails for lack of a connection: the client retries in the background
//     until the node is gone.
//
// # Re-entry is by context
//
// Java's locks belong to a thread, but goroutines have no identity. In Go, an acquire
// under the context of a lease re-enters the lock. An acquire without that context is a
// separate contender, even in the goroutine of the holder. It then waits for itself, and
// its [NotAcquiredError] reports that. Goroutines that share a lease's context are inside
// together; use a sync.Mutex to exclude them from each other.
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
// see framework.WithACLProvider. A contender that may not read the node right ahead gets
// zk.ErrNoAuth (CVE-2024-23944).
//
// # Who holds what
//
// Each node identifies its owner in an [Identity]: service, host and process; see
// framework.WithServiceName and [WithNodeData]. Participants returns all contenders with
// their identities, and a [NotAcquiredError] has the holder's identity. With package
// tracing, waits and holds become spans and metrics. Without it, the client logs a line
// for each lost lock. [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package locks
