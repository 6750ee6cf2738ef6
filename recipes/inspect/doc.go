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
// Times are by the server's clock, except for [Participant.Waiting]. Texts from nodes can
// be printed in a line, except the fields of an Instance. For JSON, see zklock's option
// "-o json".
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
// server that lags behind shows an older state. A walk needs ZooKeeper 3.6 or later. The
// documentation of [Walk] and [WaitGraph] has their other limits.
//
// The names of nodes come from the sources of Curator, go-zookeeper and kazoo. Package
// testing/interop tests this package with Java Curator and kazoo. [GUARANTEES.md] lists
// what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package inspect
