// Package recipes holds coordination between processes that share a ZooKeeper ensemble.
//
//   - Use [InterProcessMutex] if one process at a time may do something; with [WithLocalHandOver], if many goroutines of a
//     process want it.
//   - Use [InterProcessReadWriteLock] if many may look at something at once, and one alone may change it.
//   - Use [InterProcessSemaphore] if no more than n may do something at once, or if some need several of n pieces.
//   - Use [InterProcessSemaphoreMutex] if one at a time may do something, and a second acquire under the first must wait,
//     or if Java uses that class.
//   - Use [InterProcessMultiLock] if something needs several locks, all or none of them.
//   - Use [LeaderLatch] if one of several processes at a time should do what all of them could, for as long as it lives, and
//     the next should take over at once.
//   - Use [LeaderSelector] if that is a function with a beginning and an end, and the next should take over only when it has
//     returned; or if the leader should also exclude, or be excluded by, an [InterProcessMutex].
//
// Each is acquired, held and released in the same way:
//
//	mutex := recipes.NewInterProcessMutex(client, "/locks/sku-42")
//	lease, err := mutex.Acquire(ctx) // waits until ctx ends
//	if err != nil {
//		return err // says how many are ahead, who holds the lock, and when that was seen
//	}
//	defer lease.Release(ctx) // right for any ctx, also in an outage
//
//	work, done := lease.Under(ctx) // ends with the lease, and with ctx
//	defer done()
//	return sell(work, lease.FencingToken())
//
// A held lock is a [Lease], and a lease is a context: the lock is held exactly as long as [Lease.Context] is alive.
// Work under it, or, to be stopped by your caller's context as well, under [Lease.Under], and stop when it ends. There is
// no method that asks whether a lock is held, because the answer could be old when it arrives.
//
// A holder that is asked to give its lock up, by [Revoke], hears of it by [Lease.Revoked], or loses the lease if the lock is
// [Revocable].
//
// # How it works
//
// Each contender creates an ephemeral sequential node below the lock's path. The server numbers them; the lowest number
// holds the lock. A waiter watches only the node right ahead of its own, so that a release wakes one waiter, however
// long the queue. The node of a process that has crashed is deleted by the server when its session times out.
//
// # Who holds what
//
// Each contender's node says who it is, in an [Identity]: host, process, service, and since when it waits. Those who do
// not get a lock are told, by [NotAcquiredError], and anybody by the Participants of a lock. [WithoutIdentity] and
// [WithNodeData] change that.
//
// With package tracing, waits and holds are spans and metrics, and a waiter's span leads to the holder's. Without it, a
// client's logger gets a line for each lock that is lost, with the context of the work under it; for each lease that is
// dropped without a release; for a leader's work that goes on after its leadership, and for a LeaderLatch that the server
// gives trouble. Nothing else is logged.
//
// What others have written below a lock's path is kept and shown with care. Of a node's data no more than 4 KiB are kept.
// Tracers get names that can be printed, in quotes if need be, and an Identity has nothing that cannot.
//
// # What is promised
//
// locks/GUARANTEES.md and leader/GUARANTEES.md list every promise, with the
// tests that hold it.
//
// # What is not promised
//
// A lease's context ends in time if this process runs, and if the server's answers mean what they seem to mean. It
// cannot end in a process that is stopped: by a debugger, a suspended machine, a long pause for garbage. Nor does it
// end in time for a client of a server that is cut off from the rest of its ensemble: such a server goes on answering
// pings for some time, while the others let the session expire. A follower may die right after an answer, before it has
// told its leader of the client. Nor can it end before a node is deleted by somebody who
// has the right to, or before its session is ended by somebody who has taken it over. In all these cases the next
// holder may be admitted while the old one still acts. Only what the lock guards can then tell them apart, by the
// [Lease.FencingToken]: it must remember the largest token it has seen, and refuse smaller ones, as package fence does;
// for a read/write lock, see [ReadLock]. If it is in ZooKeeper itself, there is a simpler way; see [Lease.Checks]. For
// servers that are cut off or die, there is framework.WithStrictContact.
//
// All contenders must be allowed to read each other's nodes. Whoever finds one right ahead that it may not read gets
// zk.ErrNoAuth, because servers do not tell of the end of such a node (CVE-2024-23944), and to wait would be for ever.
//
// By default, everybody who reaches a server has that right: to delete a lock's
// nodes, to revoke a lock, and to create what is in its way. Credentials and
// framework.WithACLProvider change that.
//
// Tokens grow as long as the servers keep their data: an ensemble that is wiped begins to count anew, and a resource that
// remembers larger tokens must be told.
//
// What ends in time is the context, not the work: work that does not stop when it ends goes on. A LeaderSelector waits for
// it before it lets others lead, but only as long as its session lives; locks and a LeaderLatch do not wait.
//
// # For those who come from Java
//
// Java's locks belong to a thread, and Go has no such thing. What takes its place is the context:
//
//   - An acquire under the context of a lease re-enters: under [Lease.Context], [Lease.Under], or the context that Do and
//     leaders give to their work. The lease counts: the last release frees the lock.
//   - An acquire without it is another contender, also in the goroutine that holds the lock: it waits for itself, and its
//     [NotAcquiredError] says so.
//   - Whoever gets the context is inside. Three goroutines under one Do hold the lock together, and the lock does not
//     exclude them from each other; a sync.Mutex does.
//   - Any goroutine may release a lease.
//   - There is no isAcquiredInThisProcess: the lease's context is the answer.
//
// Objects are cheap: make one for each request, or keep it.
//
// # Sharing a lock with Java
//
// Paths, node names and modes are those of Apache Curator's recipes, so that Java and Go processes may contend for the
// same lock. The tests of package testing/interop prove it with real Java Curator.
package recipes
