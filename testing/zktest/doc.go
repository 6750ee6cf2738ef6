// Package zktest is a ZooKeeper server inside the test's process. It speaks the
// real wire protocol, so that the client library of a program is tested along with
// the program, and it needs no port, no Java and no waiting: a server starts in
// microseconds. What is modelled, and what is not, is listed below.
//
//	func TestService(t *testing.T) {
//		srv := zktest.New(t)
//		conn, _, err := zk.Connect([]string{srv.Addr()}, 10*time.Second, zk.WithDialer(srv.DialTimeout))
//		...
//	}
//
// Clients connect over an in-memory network, through [Server.Dialer] or
// [Server.DialTimeout]. With [WithTCP] clients in other processes and in other
// languages can connect as well.
//
// There are few concepts. A [Server] has methods that do what happens to servers
// and networks ([Server.ExpireSession], [Server.CutAll], [Server.PartitionAll],
// [Server.Stop] and others), methods that change the tree by an operator's hand
// ([Server.Create], [Server.Set], [Server.Delete]), methods that look in
// ([Server.Tree], [Server.Sessions], [Server.Watches], [Server.Requests]) and
// methods that wait for something to be so ([Server.WaitFor] and others). A [Rule]
// aims an [Action] at single requests: drop it, drop its answer, delay it, call
// the test in the middle of it. A [Host] is where clients run, and can be cut off
// from the servers. An [Ensemble] is several servers with one history, and [Random]
// makes any of this happen by chance, the same way for the same seed.
//
// The examples are complete. In virtual time: a service that loses its lock, in
// example_lostlock_test.go; one whose machine sleeps while it holds a lock, in
// example_sleep_test.go; and a hand-over of leadership, in
// example_handover_test.go. Another is a program that embeds the server.
// The program examples/fakeserver is a server for other languages.
//
// # Time
//
// Timeouts, expiry, the clocks of TTL nodes and every delay use package time, and
// the in-memory network has no sockets. A server that is created inside a bubble of
// testing/synctest therefore lives in the bubble's time. A session of hours passes
// in milliseconds, and sessions expire to the nanosecond:
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := zktest.New(t)
//		conn, events, err := zk.Connect([]string{srv.Addr()}, 9*time.Second, zk.WithDialer(srv.DialTimeout))
//		require.NoError(t, err)
//		defer func() {
//			conn.Close()
//			for range events { // until the client's goroutines have ended
//			}
//		}()
//		_, err = conn.Create("/lock", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
//		require.NoError(t, err)
//		srv.PartitionAll()
//		time.Sleep(9 * time.Second)
//		synctest.Wait()
//		srv.AssertNoNodes(t, "/")
//		srv.Heal()
//	})
//
// Real time works as well: what is due happens by itself. With [WithClock] it happens
// when the test says so.
//
// A session expires exactly its timeout after the server has last heard of its client,
// or with [WithTick], and always in an ensemble, at the next multiple of the tick after
// that, counted from the zero time. If a client is heard of at that very instant, it is
// left to the scheduler of goroutines which comes first.
//
// A bubble ends only when all of its goroutines have: close clients before the
// server. [New] closes the server by Cleanup, which is late enough if clients are
// closed by defer, or by a Cleanup that is registered after New. [Server.Close] does
// not wait for clients.
//
// # Ordering
//
//   - Requests of one connection are carried out, and answered, in order.
//   - A watch event is sent before the answer to any later request on the same
//     connection, and before the answer to the write that caused it.
//   - An event never comes before the answer to the request that set the watch.
//     Delays do not change that: what is held back holds back what is behind it.
//   - The header of an answer carries the last transaction the server has applied.
//     For a successful write that is the write itself; for a create it equals the
//     Czxid of the node.
//   - The actions [ReplyFirst] and [EventFirst] break this order; nothing else does.
//   - Operations of different connections are atomic and have one total order,
//     which is that of [Server.Requests] and, for writes, of their zxids.
//   - Of several connections that watch the same node, nobody knows which is told
//     first.
//   - A listing, of children or of ephemeral nodes, comes in a random order, each time
//     in another one. A real server promises no order, and a client that relies on
//     one has to be found out. Under [WithRandom] the order is drawn from the seed.
//
// # Faults
//
// What goes wrong is chosen at the level at which it would go wrong:
//
//   - A request: [Server.Inject] with a [Rule], which says which request, and an
//     [Action], which says what happens to it: [DropReply], [DelayRequest], [Fail], [Call]
//     and so on, or [All] of several.
//   - A connection: [Server.CutSession] ends it, [Server.Partition] makes it a black hole,
//     [Server.Deafen] and [Server.Silence] half of one, until [Server.Heal].
//   - A session: [Server.ExpireSession], [Server.ReplaceSession], [Server.PauseSession].
//   - A client, with all of its connections, present and future: [Host.Isolate] and
//     [Host.Disconnect], until [Host.Heal]; [Host.LoseSessions], the usual way to lose a
//     session; [Host.Suspend], a machine that sleeps.
//   - A server: [Server.Stop], [Server.Freeze], [Server.RefuseConnections],
//     [Server.PartitionAll].
//   - A clock: [Server.JumpClock], [Server.SetClockRate], [Server.SetClockOffset].
//   - An ensemble: [Ensemble.Partition], [Member.Lag], [Member.Resign],
//     [Ensemble.MoveSession].
//   - The order of things: [Server.SetSequence], [ReplyFirst], [EventFirst].
//
// With [WithRandom] the same faults happen by chance, drawn from a seed. In a bubble the
// same seed gives the same run; [Server.Happenings] tells what happened.
//
// # Ensembles
//
// [NewEnsemble] starts several members, each of them a [Server] that clients can
// connect to, and that has faults and inspection of its own:
//
//	ens := zktest.NewEnsemble(t, 3)
//	conn, events, err := zk.Connect(strings.Split(ens.ConnectString(), ","), 9*time.Second,
//		zk.WithDialer(ens.DialTimeout))
//	...
//	follower := ens.MemberOf(conn.SessionID())
//	follower.Isolate() // it goes on answering pings and reads, for a while
//
// What a client can see of an ensemble, and what it is made of here:
//
//   - All writes are made by the leader, one after the other, if a majority of the
//     members hears of them. The others apply them in the same order: at once, or as
//     late as [Member.Lag] says. The answer to a write comes from the client's own
//     member when that has applied it, and so does the answer to a sync when the
//     member has applied all that the leader had made when the sync came.
//   - Reads, watches and pings are the member's own affair. It is not known to the
//     client how old its answers are.
//   - The leader alone decides on sessions. Followers tell it twice per tick which
//     clients they have heard of, and the session's time begins anew then, and not at
//     the client's request. A write or a sync that a follower hands on does not touch
//     the session at the leader either. What a follower has not told yet when it ends,
//     nobody learns: the session's time began with the request before.
//   - A follower that is cut off goes on like that for the sync limit: reads and pings
//     are answered, while writes, syncs and handshakes wait. The leader may have ended
//     the session long before, and given its ephemeral nodes away. When the limit is
//     over it drops its clients, and closes new connections, until it has a leader.
//     If the network heals before, what has waited is carried out.
//   - A leader that has lost its majority waits a tick longer before it does the same.
//     It serves reads meanwhile, possibly beside the next leader: members that are
//     stopped and started on the other side elect one without waiting. It also
//     answers syncs, its own and those of followers that still reach it. Both prove
//     nothing then.
//   - A process that ends is noticed at once by everybody who can reach it.
//   - A majority without a leader elects one after the election time: who knows most,
//     and among those the highest number. A new leader gives every session its full
//     timeout, and zxids a new epoch in their upper half. A member that joins is up to
//     date before it serves.
//   - A member that has seen less than a client hangs up on it at the handshake.
//   - A client that has moved can still read over a connection that it has left behind
//     at another member. A write there is not answered: the connection ends.
//
// Every interval is an option; the defaults are [DefaultTick], [DefaultSyncLimit] and
// [DefaultElectionTime]. Nothing else takes time: the network between members is
// as fast as thought, and who joins does so in no time.
//
// # What is modelled
//
// ZooKeeper 3.9.3 as far as a client can see. The package's conformance tests send the
// same requests, by script and at random, to a server on its own and to a real one, and
// compare all that comes back; an ensemble carries requests out by the same code. Python's
// kazoo runs its recipes on it, and Java Curator its own: see package testing/interop.
// These are all requests, by their numbers on the wire ([Op]); a test compares the list
// with the code.
//
//	  1 create                       without TTL and containers, as on a real server
//	  2 delete
//	  3 exists                       leaves its watch whether there is a node or not
//	  4 getData
//	  5 setData
//	  6 getACL                       with hashes masked for those who may not change it
//	  7 setACL
//	  8 getChildren
//	  9 sync                         waits, at a member of an ensemble, for what the leader has
//	 11 ping
//	 12 getChildren2
//	 13 check                        in a multi; alone it ends the connection
//	 14 multi                        of create in all variants, delete, setData, check
//	 15 create2
//	 16 reconfig                     answered with "reconfig disabled", the default
//	 17 checkWatches
//	 18 removeWatches
//	 19 createContainer
//	 20 deleteContainer              what the server does once a minute, by hand
//	 21 createTTL
//	 22 multiRead                    of getData and getChildren
//	100 auth                         digest, ip; everything else ends the connection
//	101 setWatches
//	102 sasl                         as by a server that is not configured for it
//	103 getEphemerals
//	104 getAllChildrenNumber
//	105 setWatches2
//	106 addWatch                     persistent, recursive
//	107 whoAmI
//	-11 closeSession
//
// Any other number is answered with [ErrUnimplemented], and ends the connection. Besides:
//
//   - The order of the checks that a request goes through, and the code that wins.
//   - The arithmetic of every field of a Stat, the numbers of sequential nodes and
//     their end at 2^31-1 (see [Server.SetSequence]), zxids that failed writes consume
//     too, multis under one zxid.
//   - Sessions: negotiation, expiry, passwords, moving to a new connection, rejection
//     of clients that have seen more than this server.
//   - Standard, persistent and recursive watches, several of them on one path, and
//     catching up with them after a reconnect. An event goes only to those who may read
//     the node, and carries the zxid of the change.
//   - Ephemeral nodes, containers and nodes with a TTL, which the server looks
//     through once a minute.
//   - ACLs with the schemes world, auth, digest and ip, several identities of one
//     client, and with [WithSuperUser] somebody to whom they do not apply.
//   - Quotas: accounting, and with [WithEnforcedQuotas] hard limits.
//   - Every four-letter word, in the format of a real server on its own, and open to
//     everyone. Latencies are 0, hash is empty, and mntr is short: some 20 values out of
//     500. Of an ensemble, the words tell no more than the member's part in it.
//   - The longest request of 1 MiB, a real server's default.
//
// # What is not modelled
//
//   - In ensembles: observers, read-only mode, local sessions, changes of the members,
//     weights, links that are cut in one direction only, and logs that differ. A write that
//     does not reach a majority is not made at all, and waits with its client; a real
//     one may be on some disks, and come up again or not. To a client both are a write
//     without an answer. Of members that are cut off from each other at the same
//     moment all notice at the same moment.
//   - Persistence. Without an ensemble there are no epochs: zxids begin at 1 and count up.
//   - Ticks, unless [WithTick] or an ensemble asks for them: sessions expire at the exact time.
//   - SASL and Kerberos: a client that insists on them does not get in. X.509 and TLS.
//   - Reconfiguration. /zookeeper/config can be read, and is empty.
//   - Throttling, limits per client address, and the end of connections that never
//     begin a session. The answers that wait for clients that do not read are
//     bounded: 64 MiB for one, 256 MiB for all clients of a server.
//   - Over TCP, a port that is closed: [Server.Stop] and [Server.RefuseConnections]
//     accept connections and close them at once.
//
// In these details the answers differ from those of 3.9.3:
//
//   - Null strings and vectors are read as empty ones, where a real server, for some
//     of them, fails with [ErrMarshalling]; and never sent.
//   - Java's strings: characters beyond the basic plane come back as they were sent.
//   - IPv6 clients are shown by whoAmI in the short form.
//   - createSession sent as a request (-10) is unknown.
//   - Quotas: one for the root is ignored, and so are limits that are no numbers.
//   - wchs counts connections that have watches, not those that once had.
//
// Older versions differ more. Before 3.9.2 and 3.8.4, watch events ask for no
// permission. Before 3.9, exists asks for none either, events do not tell their zxid, a
// multi answers create2 without a Stat, every write that cannot be read takes a zxid,
// a check outside a multi is never answered, and a path has either standard or
// persistent watches, for which there is [WithWatchesBefore39]. The calls of conformSince39
// and conformInEachVersion in the tests are the list.
//
// # Reading the source
//
// tree.go is the data and txn.go a transaction on it, both without clock or I/O;
// watch.go has the two tables of watches, session.go the sessions and their clocks.
// cluster.go is what the members of an ensemble share, and a server on its own has for
// itself. history.go takes transactions from the leader to the others, member.go and
// quorum.go say who follows whom and what happens when that changes.
// host.go is the network on the clients' side. conn.go moves frames, exchange.go carries out one request under its faults. Each
// request is in op_<request>.go, alone or with its relatives. acl.go and quota.go are
// the rules about nodes, fourletter.go the administrative commands. fault.go and
// action.go are the aimed faults, control.go and clock.go the others; random.go and
// deed.go let chance do them.
package zktest
