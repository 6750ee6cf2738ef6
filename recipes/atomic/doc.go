// Package atomic has numbers and values in ZooKeeper that many processes read
// and change, as Curator's DistributedAtomicLong and its kin, and sequences of
// unique numbers.
//
//	visits := atomic.NewLong(client, "/visits", atomic.WithReceipts("/receipts"))
//	now, err := visits.Add(ctx, 1)
//	switch {
//	case errors.Is(err, framework.ErrOutcomeUnknown):
//		// applied once, or not at all: count again only if twice does no harm
//	case err != nil:
//		// not applied
//	}
//
// # Which one
//
//   - [Long] and [Int] are numbers. Add, store, compare and swap them, or
//     update them by a function.
//   - [Value] is the same for any type that a [codec.Codec] turns into bytes.
//   - [Sequence] gives each caller a number that no other caller gets. It never
//     waits for other callers, so it is the fastest way to unique ids.
//
// Nodes and bytes are Curator's: Java and Go processes may count in one node.
//
// None of them follows its node: each Load asks the server. Package shared has
// values that are notified of changes, and are read from memory. Both kinds may use
// one path, with the same codec.
//
// # No change is made twice
//
// A write asks for the version that was read. So one of several writers is the
// first, and the others begin again. If the connection breaks before the reply,
// the client finds out whether the write was applied. The answer of a call is
// applied, not applied, or [framework.ErrOutcomeUnknown]. Curator takes its own
// write for another client's then, and counts twice.
//
// The node alone often does not tell: two writers that both make 6 out of 5
// leave the same bytes. Receipts tell; see [WithReceipts]. With them, only the
// loss of the session in the same moment leaves an outcome unknown. They cost
// no request more, but one ephemeral node for each object, and the right to
// create it. So they are an option. Without them, a write that was applied, and
// whose reply was lost, is of unknown outcome.
//
// # How new a read is
//
// All clients see the writes in one order, whatever server they are connected to.
// A Load, a CompareAndSwap that is refused, and an Update whose function fails
// see every change that was complete before the call, with two exceptions, at
// the leader of the ensemble:
//
//   - The leader may be some milliseconds behind what its followers have
//     acknowledged.
//   - The leader may be cut off from its followers. It serves its clients then for
//     up to the ensemble's syncLimit times tickTime and a tick more, while others
//     write at the next leader. What its clients read is what was there at the cut:
//     the old number, for which a CompareAndSwap of the new one is refused. They
//     write nothing meanwhile.
//
// After [framework.Client.SyncQuorum], which costs as much as a write, a Load has
// neither exception.
// [framework.WithStrictContact] ends the session of a client that is cut off
// within its timeout, and with it the second exception, but not the first.
//
// # Many writers
//
// What goroutines add through one object at the same time is one write, and each of
// them gets its own sum: 64 goroutines cost the server no more than one. Each other
// change is a write, and the goroutines of one object take turns. Keep one object
// for a path. Loads do not wait for writes. No goroutine waits for the function of an
// Update, so an Update with a slow function may starve while other goroutines change
// the object without a pause.
//
// Processes that write without a pause take turns of up to eight writes. Within its
// turn, a process writes once in each round trip. Then the process rests until the
// others have had most of their turns. Eight processes need about 1.5 requests for an
// Add, most Adds take one round trip, and one in a hundred takes more than 80. With
// more processes, the slow ones take longer in proportion.
//
// A turn belongs to the process whose write arrives first. So a process with twice
// the latency of the others may starve. Curator's DistributedAtomicLong can go on
// under a lock then (PromotedToLock). To do that here, hold a mutex of package locks
// around Add.
//
// # Coming from Curator
//
//   - Add is increment, decrement, add and subtract. Store is trySet and forceSet,
//     and Load is get.
//   - A nil error means that the change was applied, as AtomicValue.succeeded does.
//     The function of Update gets what preValue returns.
//   - CompareAndSwap takes a node that does not exist for zero. So there is no
//     initialize.
//   - CachedAtomicLong hands out numbers of a block that it has reserved. Add
//     reserves one: Add(ctx, 1000) returns its last number.
//
// # When the session is lost
//
// Numbers, values and sequences do not depend on a session. Calls retry through
// outages, losses of the session and failures of servers until their context
// ends. A refusal ends them, and so do servers that refuse the client's
// credentials. A Sequence waits no longer than any operation of the client.
//
// # Limits
//
// ZooKeeper compares versions, and not nodes. If a node is deleted and
// re-created while a write is under way, or within a second after a write or a
// Load in the same session, and gets the same version, a write may be based on a
// number of the old node. A sleep of the machine counts as part of that second.
// Store 0 instead of deleting a counter.
//
// A node's version has 32 bits, and is -1 after 2^32 - 1 writes on older servers.
// Changes fail with [ErrNoVersion] then, until a writer of another kind, such as
// Java's forceSet, has written.
//
// A write whose outcome is unknown is in the log of the client, with the
// attributes curator.znode.path and curator.cause. Package tracing counts writes
// by their outcome; see [HookAtomicWritten].
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package atomic
