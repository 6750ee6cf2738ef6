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
// No type of this package follows its node: each Load sends a request. Package shared has
// values that follow their node, and are read from memory. Both packages may use the same
// path with the same codec.
//
// # No change is made twice
//
// A write succeeds only if the node still has the version that was read. So one of
// several concurrent writers succeeds, and the others retry. If the connection breaks
// before the reply, the client finds out whether the write was applied. A call reports
// one of three outcomes: applied, not applied, or [framework.ErrOutcomeUnknown]. In this
// situation, Java Curator mistakes its own write for another client's, and counts twice.
//
// The node alone often does not show the outcome: if two clients both replace 5 by 6,
// their bytes are equal. Receipts show it; see [WithReceipts]. With receipts, an outcome
// stays unknown only if the session is lost at the same moment. A receipt costs no extra
// request, but one ephemeral node for each object and the permission to create it, so
// receipts are an option. Without receipts, if a write was applied and its reply was
// lost, the outcome is unknown.
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
//   - The leader may be partitioned from its followers. It then serves its clients for
//     up to the ensemble's syncLimit times tickTime, and one tick more, while other
//     clients write at the new leader. The clients of the old leader read the state
//     before the partition, so they may see an old number, and a CompareAndSwap of the
//     new number fails. They write nothing in that time.
//
// After [framework.Client.SyncQuorum], which costs as much as a write, neither exception
// applies to a Load.
// [framework.WithStrictContact] ends the session of a client that is cut off
// within its timeout, and with it the second exception, but not the first.
//
// # Many writers
//
// Concurrent Adds through one object are combined into one write, and each caller gets
// its own sum: 64 goroutines cost the server no more than one. Every other change is one
// write, and the goroutines of one object take turns. So keep one object for each path.
// Loads do not wait for writes. No goroutine waits for the function of an Update, so an
// Update with a slow function may starve while other goroutines change the object
// continuously.
//
// Processes that write continuously take turns of up to eight writes. During its turn, a
// process completes one write in each round trip. Then the process rests until the other
// processes have had most of their turns. With eight processes, an Add costs about 1.5
// requests, most Adds take one round trip, and one Add in a hundred takes more than 80
// round trips. With more processes, slow Adds take proportionally longer.
//
// The process whose write arrives first gets the next turn. So a process with twice the
// latency of the others may starve. In that case, Curator's DistributedAtomicLong can
// continue under a lock (PromotedToLock). To do so here, hold a mutex of package locks
// during Add.
//
// # Coming from Curator
//
//   - Add is increment, decrement, add and subtract. Store is trySet and forceSet,
//     and Load is get.
//   - A nil error means that the change was applied, as AtomicValue.succeeded does. The
//     function of Update receives the number that preValue returns.
//   - CompareAndSwap treats a missing node as zero, so there is no initialize.
//   - CachedAtomicLong reserves a block of numbers. Add(ctx, 1000) reserves a block, and
//     returns its last number.
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
// ZooKeeper compares versions, not nodes. A write may be based on the number of a deleted
// node if the node is re-created and reaches the same version while the write is in
// flight, or within a second after a write or Load of the same session. Suspension of the
// machine counts as part of that second. To reset a counter, Store 0 instead of deleting
// the node.
//
// A node's version has 32 bits. On older servers, the version is -1 after 2^32 - 1
// writes, and changes fail with [ErrNoVersion] until an unconditional write, such as
// Java's forceSet.
//
// The client logs each write with an unknown outcome, with the attributes
// curator.znode.path and curator.cause. Package tracing counts writes by outcome; see
// [HookAtomicWritten].
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package atomic
