// Package inspect finds out who holds which lock, who waits, and which processes are in
// a deadlock. It recognises locks, leaders, semaphores, registrations and queues by
// their nodes, which this library, Java Curator, go-zookeeper's Lock or Python's kazoo
// may have created. Package inspect only reads.
//
//	for r, err := range inspect.Walk(ctx, client, "/") {
//		if err != nil {
//			return err // the answer is not complete
//		}
//		for _, holder := range r.Holders {
//			fmt.Println(r.Kind, r.Path, "held by", holder, "since", holder.Since)
//		}
//	}
//
// # Which one
//
//   - [Walk] is for lists. With a [WithDepth] of 0, Walk returns the recipes at one
//     path. With [WithServices], Walk lists the instances of services, in any format of
//     package discovery.
//   - [WaitGraph] returns who waits for whom across all locks, and names the processes
//     of deadlocks.
//
// Times are by the server's clock, except for Participant.Waiting. Texts from nodes can
// be printed in a line, except the fields of an Instance. Paths may have any characters
// that ZooKeeper allows. For JSON, see zklock's option "-o json".
//
// # What cannot be told apart
//
// Only the names of nodes show the recipe. These kinds have nodes with the same names;
// Recipe.MayBe lists the alternatives:
//
//   - A mutex, and the LeaderSelectors of Java and this library. Java's deprecated
//     InterProcessSemaphore is also listed as a mutex, although it may have several
//     holders.
//   - Kazoo's mutex, its Election, and the writers of its read/write lock.
//   - A semaphore with one lease, and Java's InterProcessSemaphoreMutex.
//   - A mutex with a path that ends with "/locks", and the gate of a free semaphore.
//
// The nodes of Curator's semaphore do not contain the limit; see [WithSharedLimits]. A
// free lock has no nodes, and is not listed. Any ephemeral node with another name is
// listed as a registration.
//
// # When the session is lost
//
// A walk creates no nodes and sets no watches. If the client's retry policy allows it,
// the walk continues in the next session. Otherwise the walk ends with an error. An
// answer without an error is complete, within the limits below.
//
// # Limits
//
// A walk returns only nodes that the client may read: a path whose children it may not
// list is [Unreadable]. The nodes of a recipe may be read as of different transactions.
// Any client that may create nodes can invent owners, and so processes in a deadlock. A
// server that lags behind shows an older state.
//
// A walk needs ZooKeeper 3.6 or later. On an older server, which lacks the request for
// reading many nodes, a walk ends with an error that says so at the first recipe with
// four or more participants.
//
// A walk can miss some things:
//
//   - A walk does not visit nodes below the items of a queue.
//   - A semaphore that gets its first participants during the visit may not be
//     recognised: its parts may be listed separately, or twice.
//   - A recipe whose participants change during each of several reads is listed
//     without participants; see Recipe.Unread.
//   - A visit that fails does not end other visits. The walk reports the error
//     when the visit's turn comes.
//   - An idle lock (see locks.ReleasePolicy) looks like a held one. Its owner gives the
//     lock up when another contender queues.
//   - A slow loop body makes the answer old, because visits run ahead of the loop.
//
// A cycle between processes is a deadlock only if each process waits in the goroutine
// that holds. The nodes do not show that; see Deadlock.Doubts. WaitGraph does not find
// all deadlocks, and may report a cycle that is not a deadlock:
//
//   - It reports no deadlock within one lock, such as two readers of a
//     read/write lock that both wait for its write side.
//   - Nodes with the same service, host and PID count as one process. Two containers
//     may share all three: then a cycle between them is not reported, and a cycle
//     through both may not be a deadlock.
//   - A waiter for several leases counts as a waiter for a single lease.
//   - Each root is walked separately. If roots overlap, a lock's waits come from the
//     first walk that finds any.
//
// The names of nodes come from the sources of Curator, go-zookeeper and kazoo. Package
// testing/interop tests this package with Java Curator and kazoo. [GUARANTEES.md] lists
// what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package inspect
