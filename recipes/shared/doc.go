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
// Use package atomic for values that many processes change: it combines concurrent Adds
// into one write, and its receipts resolve writes whose reply was lost. But its values do
// not follow their node, so each Load sends a request.
//
// # Reads and writes
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
// Java Curator keeps the old value until it reads the node after a reconnect.
//
// # Limits
//
// A Value may miss a value that is soon overwritten. TrySet cannot tell a node from its
// re-created successor with the same version; see [ErrNodeReplaced]. The documentation of
// [Value] has the other limits.
//
// The client logs deletions, persistent errors and the end of a Value. Package tracing
// counts changes, re-reads and data that cannot be decoded; see [HookSharedValue].
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package shared
