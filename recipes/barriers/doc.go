// Package barriers lets processes wait until a barrier is lowered, or until n of them
// have arrived.
//
//	barrier := barriers.NewDoubleBarrier(client, "/benchmark", 3)
//	passage, err := barrier.Enter(ctx) // waits for the other two
//	if err != nil {
//		return err
//	}
//	defer func() {
//		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
//		defer cancel()
//		passage.Leave(ctx) // waits until the others have left, too
//	}()
//	return measure(passage.Context()) // ends if this member is lost
//
// # Which one
//
//   - [Barrier], Curator's DistributedBarrier, is a gate. Raise it for a maintenance or a
//     migration, and lower it afterwards. Wait returns when it sees the barrier down. The
//     option WithSession lets the barrier fall when the process that raised it crashes.
//   - [DoubleBarrier], Curator's DistributedDoubleBarrier, is a rendezvous of n members,
//     which enter together and leave together, round after round.
//
// Go and Java processes may use the same barriers together.
//
// If the path is invalid, every call returns an error that matches zk.ErrInvalidPath. For
// any other invalid argument the error is a *framework.ConfigError and matches
// zk.ErrBadArguments.
//
// # Outages
//
// Every call retries through outages of any length until its context ends. The call's
// error then includes the reason for the wait, for example why there is no connection.
//
// # When the session is lost
//
//   - Every call except Leave continues in the next session. A waiting member counts once:
//     it creates its node in the next session after the servers have ended the lost
//     session.
//   - A Barrier that is bound to the session falls, and is not raised again. The context
//     of Raised.Session ends before that. For a barrier that is raised again, keep a
//     nodes.PersistentNode at its path.
//   - A member inside a DoubleBarrier is lost. The context of its Passage ends, and the
//     Leave of other members does not wait for it.
//
// # Limits
//
// More than n members of a DoubleBarrier may enter, and a member of a process that has
// crashed counts until its session ends: see [DoubleBarrier]. Wait may miss a short
// Barrier, and sees an old state while the ensemble's leader is partitioned: see
// [Barrier.Wait].
//
// The client logs each opening, and who raises and lowers a Barrier, with the attributes
// curator.znode.path and curator.cause. Package tracing measures how long calls wait; see
// [HookBarrierWaited].
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package barriers
