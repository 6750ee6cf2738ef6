// Package barriers lets processes wait until a barrier is lowered, or until n of
// them have come together.
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
//   - [Barrier], Curator's DistributedBarrier, is a gate. Raise it for a
//     maintenance or a migration, and lower it afterwards. Wait returns when it
//     sees the barrier down. WithSession makes it fall with the process that
//     has raised it.
//   - [DoubleBarrier], Curator's DistributedDoubleBarrier, is a rendezvous of n
//     members, who enter together and leave together, round after round.
//
// Go and Java processes may use the same barriers together.
//
// A path that cannot be used is an error of every call and matches
// zk.ErrInvalidPath. Any other such value is a *framework.ConfigError and
// matches zk.ErrBadArguments.
//
// # Outages
//
// Every call goes on until its context ends, through outages of any length. Its
// error then says what has kept it waiting, such as why there is no connection.
//
// # When the session is lost
//
//   - Every call but Leave goes on in the next session. A member that waits for
//     the others counts once: it creates its node in the next session when the
//     servers have ended the lost one.
//   - A Barrier that is bound to the session falls, and does not come back.
//     Raised.Session has the context that ends before. For one that comes back,
//     keep a nodes.PersistentNode at its path.
//   - A member inside a DoubleBarrier is lost. The context of its Passage ends,
//     and the others do not wait for it in their Leave.
//
// # Limits of a Barrier
//
// Wait may miss a barrier that is lowered and raised again at once.
//
// Wait and Barrier.Raised call [framework.Client.Sync] before they read. Sync has
// limits at a leader, which answers its own clients from what it has applied. The
// leader may be some milliseconds behind its followers. A leader that is cut off from
// its followers takes some seconds to notice that, and until then its clients see the
// state before the cut: a Wait there may pass a barrier that was raised meanwhile. If
// that must never happen, let the worker's writes depend on a version or on a lock.
//
// # Limits of a DoubleBarrier
//
// Members are ephemeral nodes below the path. The member that sees n of them
// creates the node "ready", which opens the barrier. These are Java Curator's nodes,
// and their limits:
//
//   - The barrier may let more than n members in: members that come while others
//     are inside enter at once. At a leader that is behind, as above, so does a member
//     that comes just after the others have left.
//   - A process that crashes while it waits counts until its session has ended. A
//     member whose Enter or Leave gives up during an outage counts until the client
//     can delete its node, or its session has ended. A Java member whose Enter timed
//     out counts until its session ends. If the barrier is open, the next member
//     enters without waiting as long as such a node is there.
//   - Nothing notifies a member of the loss of another one.
//   - A Java member that reconnects while it waits may enter without the others:
//     Curator 4.1 to 5.9 takes any event for the opening.
//   - A Java member whose server lags behind, or that reconnects while it leaves, may
//     leave while others are inside. A Go member waits for all members that had entered
//     when Leave was called, and for no later one. A Java member that leaves also waits
//     for members that enter later.
//   - A member that loses its session while the barrier opens does not learn of the
//     opening and waits for the next one. So does a member that is disconnected until
//     the session that opened the barrier has ended, or until a Java member leaves, which
//     closes the barrier for all. Members inside then wait in their Leave until that
//     member enters, or gives up.
//   - Two members that come while the last member leaves may take each other to be
//     inside. If one of them enters just before the last member closes the barrier, and
//     the other one does not, the first waits for the other in its Leave.
//   - A Java member that crashes inside may leave the node "ready" behind, and the
//     next Java member enters alone then. A Go member deletes such a node if there is
//     no other member. A "ready" that a Go member created ends with its session.
//   - "ready" also stays if the last member gives up its Leave during an outage and
//     loses its session, or while the node of a lost member is still there. It goes
//     with the session of the client that created it, or when the next Go member
//     comes.
//
// The node at the path must be for the barrier alone. It stays until the servers
// delete it as an empty container. All members need the rights to read it, and to
// create and delete its children. Each member has its own node, also if several are
// in one process, and lists all members when it enters and when it leaves. So n
// members read n times n names.
//
// Openings, and who raises and lowers a Barrier, are in the log of the client, with
// the attributes curator.znode.path and curator.cause. Package tracing measures how
// long calls wait; see [HookBarrierWaited].
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package barriers
