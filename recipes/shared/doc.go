// Package shared has values that all processes share, and that each of them
// hears of when they change: limits, switches, settings.
//
//	limit, err := shared.NewCount(client, "/limit", 10) // 10 if nothing is set
//	if err != nil {
//		return err
//	}
//	defer limit.Close()
//	for now, err := range limit.Changes(ctx) { // begins with the present value
//		var undecoded *codec.DecodeError
//		switch {
//		case errors.As(err, &undecoded):
//			log.Print(err) // somebody has written no number; the loop goes on
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
// Java processes that use Curator can share all of them, if they know the
// codec.
//
// A value of package atomic does not follow its node, so that each Load asks
// the server. It is for values that many processes change: what goroutines add
// to a number at the same time is one write, and receipts tell what has become of
// a write whose reply was lost. Both kinds may use one path, with the same codec.
//
// [Value.Get] reads from memory, and [Value.Refresh] asks the server. A Value
// never goes back to an older value, also when it moves to a server that lags
// behind. [Value.Set] writes whatever is there. [Value.TrySet] writes only over
// the value that it is given. [Value.Update] is a loop of that, which loses
// nobody's change:
//
//	now, err := limit.Update(ctx, func(old int32) (int32, error) { return old + 1, nil })
//
// A write whose reply is lost is looked up. If nothing tells its outcome, the
// error matches framework.ErrOutcomeUnknown. No write is applied twice, and
// none is reported as not applied if it was.
//
// # When the session is lost
//
// A Value outlives sessions. It shows what it knew, and reads the node again
// when there is a connection, in the same session or in the next. A write that
// is under way when the session is lost returns framework.ErrOutcomeUnknown,
// and may still be applied.
//
// Get works without a connection. A call that asks the server fails with
// framework.ErrNotConnected when there has been no connection for the client's
// connection timeout.
//
// # When somebody deletes the node
//
// [Versioned.Exists] is false then, and the seed stands for the missing value.
// The next Set or TrySet creates the node, in this process or in another, and
// all Values see it. Java Curator keeps the old value in this case, until it
// hears of the node again after a reconnect.
//
// # What a write costs
//
// A Set waits for one request. The Value reads its own change back with another
// one, for which nobody waits: a write uses up the watch that waits for the
// changes of others, and a read sets it again. A hundred Sets at once cost one or
// two such reads, and a hundred Sets one after the other cost a hundred.
//
// A persistent watch would not save these reads. It costs one more request in the
// beginning, and servers before 3.9 do not say which write an event is about. Worse,
// the event of a write arrives before the reply to it. To leave the read out, a Value
// would have to wait for that reply at each event, and would learn of the changes of
// other clients later.
//
// # Limits
//
//   - A Value may miss values that are overwritten soon.
//   - Two writers of the same bytes are not told apart when a reply is lost, so
//     that TrySet returns framework.ErrOutcomeUnknown. If the data names its writer,
//     Refresh shows who was the last one.
//   - ZooKeeper compares versions, which begin anew with each node. TrySet over
//     a node that was re-created, and has the same version, takes effect. If
//     this Value had not heard of the new node before, it returns
//     [ErrNodeReplaced].
//   - After 2^32 - 1 writes, the version of a node is -1 on older servers,
//     which TrySet refuses.
//   - Servers with local sessions (localSessionsEnabled) check less of where a
//     request comes from. Lost replies were not tested with them.
//   - An ensemble that was set back to an older state, from a backup, sets the
//     Value back as well. The log has a warning.
//
// Deletions, errors that last and the end of a Value are in the log of the
// client, with the attributes curator.znode.path and curator.cause. Package
// tracing counts changes, reads after an interruption, and data that cannot be
// decoded; see [HookSharedValue].
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package shared
