// Package inspect finds out who holds what, who waits, and why nothing moves.
// It recognises locks, leaders, semaphores, registrations and queues by their
// nodes. This library, Java Curator, go-zookeeper's Lock or Python's kazoo may
// have created the nodes. Package inspect only reads.
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
//   - [Walk] is for lists. With [WithDepth] of 0 it shows one path. With
//     [WithServices] it lists the instances of services, in any format of package
//     discovery.
//   - [WaitGraph] says who waits for whom across all locks, and names the
//     processes of a deadlock.
//
// Times are by the server's clock, except for Participant.Waiting. Texts that come
// from nodes can be printed in a line, except for the fields of an Instance. Paths
// may have any characters that ZooKeeper allows. For JSON, see zklock's option
// "-o json".
//
// # What cannot be told apart
//
// Nodes tell their recipe by their names only. Recipe.MayBe has the other kinds
// that make nodes with the same names:
//
//   - A mutex, Java's LeaderSelector and ours. Java's deprecated
//     InterProcessSemaphore is listed as a mutex, too, although it may have
//     several holders.
//   - The mutex of kazoo, its Election, and the writers of its read/write lock.
//   - A semaphore with one lease, and Java's InterProcessSemaphoreMutex.
//   - A mutex with a path that ends with "/locks", and the gate of a semaphore
//     that nobody holds.
//
// A semaphore of Curator does not say its limit; see [WithSharedLimits]. A lock
// that is free has no nodes, and is not listed. Any ephemeral node with another
// name is listed as a registration.
//
// # When the session is lost
//
// A walk has no nodes and no watches. If the client's retry policy allows it,
// the walk goes on in the next session. Otherwise it ends with an error. An
// answer without an error is complete, with the limits below.
//
// # Limits
//
// A walk sees only what the client may read: paths that it may not list are
// [Unreadable]. The nodes of a recipe may be read as of different transactions.
// Any client that may create nodes can make up owners, and so processes in a
// deadlock. A server that lags behind shows an older state.
//
// A walk needs ZooKeeper 3.6 or later. On an older server, it ends with an error
// that says so when it comes to a recipe with four participants or more: that
// server does not know the request that reads many nodes.
//
// A walk does not see everything:
//
//   - It does not look below the items of a queue.
//   - A semaphore that gets its first participants while it is visited may be
//     missing as such: its parts may be listed by themselves, or twice.
//   - A recipe whose participants change during each of several reads is listed
//     without participants; see Recipe.Unread.
//   - A visit that fails does not end other visits. The walk reports the error
//     when the visit's turn comes.
//   - A lock that is idle, see locks.ReleasePolicy, looks as if it were held. Its
//     owner gives it up when another contender queues.
//   - A slow loop body makes the answer old: visits run ahead of the loop.
//
// A cycle between processes is a deadlock only if each of them waits in the
// goroutine that holds. The nodes do not say that; see Deadlock.Doubts. WaitGraph
// does not find all deadlocks, and may report one that is none:
//
//   - It reports no deadlock within one lock, such as two readers of a
//     read/write lock that both wait for its write side.
//   - Nodes with the same service, host and PID count as one process. Two
//     containers may share these: then a cycle between them is not reported,
//     and one through both may be no deadlock.
//   - A waiter for several leases at once counts as one that waits for a single
//     lease.
//   - Each root is walked by itself. If roots overlap, a lock's waits come
//     from the first walk that finds any.
//
// The names of nodes are those in the sources of Curator, go-zookeeper and
// kazoo. Package testing/interop tries it with Java Curator and kazoo.
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package inspect
