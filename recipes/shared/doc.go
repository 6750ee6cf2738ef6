// Package shared has values that many processes share and follow, such as limits,
// switches and settings.
//
//	limit, err := shared.NewCount(client, "/limit", 10) // 10 if nothing is set
//	if err != nil {
//		return err
//	}
//	defer limit.Close()
//	for now, err := range limit.Changes(ctx) { // begins with the current value
//		var undecoded *codec.DecodeError
//		switch {
//		case errors.As(err, &undecoded):
//			log.Print(err) // the data are not a number; the loop goes on
//		case err != nil:
//			return err
//		default:
//			pool.Resize(int(now.Value))
//		}
//	}
//
// # Which one
//
//   - [NewCount] is Curator's SharedCount: an int32, in four bytes.
//   - [NewValue] with [codec.Bytes] is Curator's SharedValue.
//   - [NewValue] with [codec.JSON], or a codec of yours, is a value of any
//     type.
//
// Processes that use Java Curator can share all of these values, if they know the codec.
//
// A value of package atomic does not follow its node, so each Load sends a request. Use
// package atomic for values that many processes change: it combines concurrent Adds into
// one write, and its receipts resolve writes whose reply was lost. Both packages may use
// the same path with the same codec.
//
// [Value.Get] reads from memory, and [Value.Refresh] asks the server. A Value never goes
// back to an older value, even when the client moves to a server that lags.
// [Value.Set] overwrites any value. [Value.TrySet] writes only if the node still has the
// given value. [Value.Update] repeats TrySet until it succeeds, so no change is lost:
//
//	now, err := limit.Update(ctx, func(old int32) (int32, error) { return old + 1, nil })
//
// If the reply to a write is lost, the Value reads the node to learn the outcome. If the
// node does not show the outcome, the error matches framework.ErrOutcomeUnknown. No write
// is applied twice, and no applied write is reported as not applied.
//
// # When the session is lost
//
// A Value survives the loss of a session. It keeps the last known value, and reads the
// node again on the next connection, in the same or in a new session. A write in flight
// at the loss returns framework.ErrOutcomeUnknown, and may still be applied.
//
// Get works without a connection. A call that sends a request fails with
// framework.ErrNotConnected if there has been no connection for the client's connection
// timeout.
//
// # When the node is deleted
//
// If another client deletes the node, [Versioned.Exists] is false, and Value is the seed.
// The next Set or TrySet of any process creates the node again, and all Values see it.
// In this case, Java Curator keeps the old value until it reads the node after a
// reconnect.
//
// # What a write costs
//
// A Set waits for one request. In the background, the Value reads its own write back,
// because a write uses up the watch that waits for the changes of other clients, and
// only a read sets the watch again. A hundred concurrent Sets cost one or two such reads;
// a hundred consecutive Sets cost a hundred.
//
// A persistent watch would not save these reads. It costs one more request at the start,
// and servers before 3.9 do not say which write an event is about. Besides, the event of
// a write arrives before the reply. To save the read, a Value would have to wait for the
// reply at each event, and would see the changes of other clients later.
//
// # Limits
//
//   - A Value may miss a value that is soon overwritten.
//   - If a reply is lost and the node has the bytes that TrySet was to write, another
//     client may have written them. TrySet then returns framework.ErrOutcomeUnknown. If
//     the data contain the name of the writer, Refresh shows who wrote last.
//   - ZooKeeper compares versions, and each new node begins with version 0. TrySet
//     succeeds on a re-created node with the same version. If this Value had not seen the
//     new node before, TrySet returns [ErrNodeReplaced].
//   - On older servers, the version of a node is -1 after 2^32 - 1 writes. TrySet refuses
//     that version.
//   - Servers with local sessions (localSessionsEnabled) check less about the origin of a
//     request. Lost replies were not tested on such servers.
//   - If an ensemble is restored from an old backup, the Value goes back, too, and logs
//     a warning.
//
// The client's log has deletions, persistent errors and the end of a Value, with the
// attributes curator.znode.path and curator.cause. Package tracing counts changes,
// re-reads after interruptions, and data that cannot be decoded; see [HookSharedValue].
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package shared
