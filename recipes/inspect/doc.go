// Package inspect finds out who holds what, who waits, and why nothing moves.
// It recognises locks, leaders, semaphores, registrations and queues by their
// nodes: those of this library, of Java Curator, of go-zookeeper's Lock, and of
// Python's kazoo. It only reads.
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
//   - [Walk] is for lists. With [WithDepth] of 0 it shows one path.
//   - [WaitGraph] says who waits for whom across all locks, and names the
//     processes of a deadlock.
//   - [Waits] is the part of it that needs no server.
//
// All results are plain structs with JSON tags. Times are those of the server's
// clock, except for Participant.Waiting. Texts that come from nodes can be
// printed in a line. Paths may have any characters that ZooKeeper allows.
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
// A semaphore of Curator does not say its limit; see [WithSharedLimits]. What
// nobody holds or waits for has no nodes, and is not listed. Any ephemeral node
// with another name is listed as a registration.
//
// # When the session is lost
//
// A walk has no nodes and no watches. It goes on in the next session if the
// client's retry policy does. Otherwise it ends with an error. An answer
// without an error is complete.
//
// # Limits
//
// The client's rights are those of the answer: paths that it may not list are
// [Unreadable]. Nodes are read one by one, and each as of another transaction.
// Anybody who may create nodes can make up owners, and so processes in a
// deadlock. A server that lags behind shows an older state.
//
// A cycle between processes is a deadlock only if each of them waits in the
// goroutine that holds. The nodes do not say that; see [Doubt].
//
// The names of nodes are those in the sources of Curator, go-zookeeper and
// kazoo. Package testing/interop tries it with Java Curator and kazoo.
// GUARANTEES.md lists every promise, and the tests that hold it.
package inspect
