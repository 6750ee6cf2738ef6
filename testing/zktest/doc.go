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
// the test in the middle of it.
//
// The examples are complete: a service that loses its lock, a program that embeds the
// server, and in example_handover_test.go a hand-over of leadership in virtual time.
// The program examples/fakeserver is a server for other languages.
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
//   - Operations of different connections are atomic and have one total order,
//     which is that of [Server.Requests] and, for writes, of their zxids.
//   - Of several connections that watch the same node, nobody knows which is told
//     first. The same goes for the order of children in an answer: it is random, as
//     a client must not rely on it.
//
// # What is modelled
//
// ZooKeeper 3.9.3, standalone, as far as a client can see. The package's conformance
// tests send the same requests, by script and at random, to this server and to a real
// one, and compare all that comes back. Python's kazoo runs its recipes on it, and
// Java Curator its own: see package testing/interop. These are all requests, by their
// numbers on the wire ([Op]); a test compares the list with the code.
//
//	  1 create                       without TTL and containers, as on a real server
//	  2 delete
//	  3 exists                       leaves its watch whether there is a node or not
//	  4 getData
//	  5 setData
//	  6 getACL                       with hashes masked for those who may not change it
//	  7 setACL
//	  8 getChildren
//	  9 sync                         answers at once: there is no leader to ask
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
// Besides:
//
//   - The order of the checks that a request goes through, and the code that wins.
//   - The arithmetic of every field of a Stat, the numbers of sequential nodes and
//     their wrap at 2^31, zxids that failed writes consume too, multis under one zxid.
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
//   - Every four-letter word, in the format of a real server, and open to everyone.
//     Latencies are 0, hash is empty, and mntr is short: some 20 values out of 500.
//   - The longest request of 1 MiB, a real server's default.
//
// # What is not modelled
//
//   - More than one server: followers that lag, quorum, elections, read-only mode,
//     local sessions, moved sessions.
//   - SASL and Kerberos: a client that insists on them does not get in. X.509 and TLS.
//   - Reconfiguration. /zookeeper/config can be read, and is empty.
//   - Persistence and epochs: zxids begin at 1 and count up.
//   - Ticks, unless [WithTick] asks for them: sessions expire at the exact time.
//   - Throttling, limits per client address, and the end of connections that never
//     begin a session. The answers that wait for clients that do not read are
//     bounded: 64 MiB for one, 256 MiB for all.
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
// persistent watches. The calls of conformSince39 in the tests are the list.
//
// # Reading the source
//
// tree.go is the data and txn.go a transaction on it, both without clock or I/O;
// watch.go has the two tables of watches, session.go the sessions and their clocks.
// conn.go moves frames, exchange.go carries out one request under its faults. Each
// request is in op_<request>.go, alone or with its relatives. acl.go and quota.go are
// the rules about nodes, fourletter.go the administrative commands. fault.go and action.go
// are the aimed faults, control.go the others.
package zktest
