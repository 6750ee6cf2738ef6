// Package barriers holds processes up until something is the case: until
// somebody lowers a barrier, or until n of them have come together.
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
//	return measure(passage.Context()) // ends if one of the others is lost
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
// Java's waiters and ours wait for the same Barrier. A DoubleBarrier has nodes
// of its own, because Java's cannot keep what is promised here;
// [WithCuratorLayout] is for members in Java.
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
//     the others gets a new node, and counts once. The old one is deleted
//     first.
//   - A Barrier that is bound to the session falls, and does not come back.
//     Raised.Session has the context that ends before. For one that comes back,
//     keep a nodes.PersistentNode at its path.
//   - A member inside a DoubleBarrier is lost. The context of its Passage ends.
//     The contexts of the others end when they notice that its node is gone.
//     The lost member counts as left.
//
// # How a round goes
//
// Members are ephemeral nodes below the path. The one that sees n of them opens
// the round, by a transaction that checks their nodes and writes their names to
// the node at the path. So exactly n enter, in the order in which they came,
// and later members are in a later round. If many more than n wait, all their
// rounds open together, for up to 500 members at once. Nothing is left that
// could let the next round pass too early. The end of the round is one
// transaction, too. A round costs about eight requests for each member, if no
// others come meanwhile, or nine with servers before 3.9. If many come, the
// members inside look for losses after a pause: 5 ms for each member of the round,
// and a second at most. Members of one process share nothing: each has a node and
// its own requests, and lists all that are there when it comes. So n members list
// n times n names.
//
// # Limits
//
// A process that crashes while it waits counts until its session has timed out.
// If the round opens with it, the contexts of the others end when its node is
// gone. The same holds for a member that gives up in the moment of the opening,
// and for one that crashes in Leave before the others have left. A member that
// gives up its Enter during an outage counts until the client can delete its
// node, or its session has timed out. Wait may miss a barrier that is lowered
// and raised again at once.
//
// Wait, Barrier.Raised and DoubleBarrier.Members ask the server to catch up
// before they look, by a [framework.Client.Sync]. That has its limits at a
// leader, which answers its own clients from what it has applied. It may be some
// milliseconds behind what its followers have. One that was cut off from the
// others does not notice that for some seconds, and its clients see what was
// before: a Wait there may pass a barrier that was raised meanwhile. If nothing
// of the kind may happen, what the worker writes must depend on a version or on
// a lock.
//
// In Curator's layout, the node "ready" stays if the last member gives up its
// Leave without a connection, or while the node of a member that was lost is
// still there. It goes when the client that made it is closed, or the next member
// comes.
//
// The node at the path must be for the barrier alone. It stays until the
// servers delete it as an empty container. All members need the rights to read
// and write it, and to create and delete its children. The names of all members
// inside must fit into its data. Each name has about 45 bytes. One transaction
// checks all n members and writes their names, and another one deletes their
// nodes; each must fit into the largest request that the servers accept, which
// is 1 MiB unless they are told otherwise.
//
// Openings, losses of members, and who raises and lowers a Barrier are in the
// log of the client, with the attributes curator.znode.path and curator.cause.
// Package tracing measures how long calls wait, and counts lost members; see
// [HookBarrierWaited].
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package barriers
