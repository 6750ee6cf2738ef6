// Package zktest is a ZooKeeper server inside the test's process. It speaks the
// real wire protocol, so that the client library of a program is tested along with
// the program, and it needs no port, no Java and no waiting: a server starts in
// microseconds.
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
// the test in the middle of it. An [Ensemble] is several servers with one history, and
// [Random] makes any of this happen by chance, the same way for the same seed.
//
// # Virtual time
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
//     first. The same goes for the order of children in an answer: it is random, as
//     a client must not rely on it.
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
//     the session at the leader either.
//   - A follower that is cut off goes on like that for the sync limit: reads and pings
//     are answered, while writes, syncs and handshakes wait. The leader may have ended
//     the session long before, and given its ephemeral nodes away. When the limit is
//     over it drops its clients, and closes new connections, until it has a leader.
//     If the network heals before, what has waited is carried out.
//   - A leader that has lost its majority waits a tick longer before it does the same.
//     It serves reads meanwhile, possibly beside the next leader.
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
// ZooKeeper 3.9, as far as a client can see. The package's conformance tests send
// the same requests, by script and at random, to this server and to a real one, and
// compare all that comes back.
//
//   - Requests: create in all variants, delete, exists, getData, setData, getACL,
//     setACL, getChildren in both variants, getAllChildrenNumber, getEphemerals, sync,
//     multi with check, multiRead, ping, auth, whoAmI, setWatches, setWatches2, addWatch,
//     checkWatches, removeWatches and closeSession; the order of their checks, and
//     the error code that wins.
//   - The arithmetic of every field of a Stat, the numbers of sequential nodes and
//     their wrap at 2^31, zxids that failed writes consume too, multis under one zxid.
//   - Sessions: negotiation, expiry, passwords, moving to a new connection, rejection
//     of clients that have seen more than this server.
//   - Standard, persistent and recursive watches, and catching up with them after a
//     reconnect.
//   - Ephemeral nodes, containers and nodes with a TTL, which the server looks
//     through once a minute.
//   - ACLs with the schemes world, auth, digest and ip, and their enforcement.
//   - The four-letter words ruok, srvr, isro and mntr.
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
//   - TLS, SASL, the super user, quotas, throttling and reconfiguration. Requests of
//     types that the server does not know are answered with [ErrUnimplemented], and
//     the connection is closed.
//   - ACLs for watch events: whoever could set a watch gets its events.
//   - The zxid of a watch event, which 3.9 has begun to tell: it is -1, as before.
//   - Java's strings: characters beyond the basic plane come back as they were sent.
//   - Older versions. Before 3.9 exists needs no permission, a multi answers create2
//     without a Stat, every write that cannot be read takes a zxid, a check outside a
//     multi is never answered, and a path has either standard or persistent watches.
//   - Limits, but for the longest request (1 MiB, as a real server's default) and for
//     the answers that may wait for a client that does not read (64 MiB).
//   - Over TCP, a port that is closed: [Server.Stop] and [Server.RefuseConnections]
//     accept connections and close them at once.
//
// # Reading the source
//
// tree.go is the data and txn.go a transaction on it, both without clock or I/O;
// watch.go has the two tables of watches, session.go the sessions and their clocks.
// cluster.go is what the members of an ensemble share, and a server on its own has for
// itself. history.go takes transactions from the leader to the others, member.go and
// quorum.go say who follows whom and what happens when that changes.
// conn.go moves frames, exchange.go carries out one request under its faults. Each
// request is in op_<request>.go, alone or with its relatives. fault.go and action.go
// are the aimed faults, control.go and clock.go the others; random.go and deed.go let
// chance do them.
package zktest
