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
// # Limits of a Barrier
//
// Wait may miss a barrier that is lowered and raised again at once.
//
// Wait and Barrier.Raised call [framework.Client.Sync] before they read. For a client
// that is connected to the leader, Sync has limits, because the leader answers from the
// state that it has applied. The leader may be some milliseconds behind its followers. A
// leader that is partitioned from its followers takes some seconds to notice, and until
// then its clients see the state before the partition. A Wait there may pass a barrier
// that was raised meanwhile. If that must never happen, let the worker's writes depend on
// a version or on a lock.
//
// # Limits of a DoubleBarrier
//
// Members are ephemeral nodes below the path. The member that sees n of them creates the
// node "ready", which opens the barrier. These are Java Curator's nodes, with their
// limits:
//
//   - More than n members may enter: a member that arrives while others are inside enters
//     at once. At a leader that is behind, as above, this may also happen just after the
//     others have left.
//   - A process that crashes while it waits counts until its session ends. A member whose
//     Enter or Leave gives up during an outage counts until the client can delete its
//     node, or until its session ends. A Java member whose Enter timed out counts until
//     its session ends. While such a node exists and the barrier is open, the next member
//     enters without waiting.
//   - A member is not notified of the loss of another member.
//   - A Java member that reconnects while it waits may enter without the others: Curator
//     4.1 to 5.9 takes any event for the opening.
//   - A Java member may leave while others are inside, if its server lags behind or if the
//     member reconnects during leave. A Go member waits for exactly the members that had
//     entered when Leave was called. A Java member also waits for members that enter
//     later.
//   - A member that loses its session while the barrier opens misses the opening and waits
//     for the next one. The same happens to a member that stays disconnected until the
//     session that opened the barrier has ended, or until a Java member leaves, which
//     closes the barrier for all. Members inside then wait in Leave until the late member
//     enters or gives up.
//   - Two members that arrive while the last member leaves may each count the other as
//     inside. If only one of the two enters before the last member closes the barrier, the
//     one inside waits for the other in Leave.
//   - A Java member that crashes inside may leave the node "ready" behind. The next Java
//     member then enters alone. A Go member deletes such a node if there is no other
//     member. A "ready" that a Go member created ends with its session.
//   - The node "ready" also remains if the last member gives up its Leave during an outage
//     and loses its session, or while the node of a lost member still exists. It is
//     deleted when the session of its creator ends, or when the next Go member arrives.
//
// Use the node at the path for the barrier alone. The servers delete the node as an empty
// container after the last member. All members need the rights to read it, and to create
// and delete its children. Each member has its own node, even if one process has several
// members, and lists all members when it enters and when it leaves. So n members read n
// times n names.
//
// The client logs each opening, and who raises and lowers a Barrier, with the attributes
// curator.znode.path and curator.cause. Package tracing measures how long calls wait; see
// [HookBarrierWaited].
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package barriers
