// Package atomic has numbers and values in ZooKeeper that many processes read and
// change, like Curator's DistributedAtomicLong, and sequences of unique numbers.
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
// their bytes are equal. [WithReceipts], the only [Option], shows it: then an outcome
// stays unknown only if the session is lost at the same moment. A receipt costs no extra
// request, but one ephemeral node for each object and the permission to create it.
//
// # Many writers
//
// Keep one object for each path: concurrent Adds through one object are combined into one
// write. Processes that write to one node take turns; see [Number].
//
// # When the session is lost
//
// Numbers, values and sequences do not depend on a session. Calls retry through
// outages, losses of the session and failures of servers until their context
// ends. A refusal ends them, and so do servers that refuse the client's
// credentials. A Sequence waits no longer than any operation of the client.
//
// The client logs each write with an unknown outcome, with the attributes
// curator.znode.path and curator.cause. Package tracing counts writes by outcome; see
// [HookAtomicWritten].
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package atomic
