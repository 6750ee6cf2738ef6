// Package zktest is a ZooKeeper server inside the test's process. It speaks the
// real wire protocol, so that a test runs the program with its real client. It
// needs no port, no Java and no waiting: a server starts in microseconds, and lives
// in virtual time inside a bubble of testing/synctest.
//
//	func TestService(t *testing.T) {
//		srv := zktest.Start(t)
//		client, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
//		require.NoError(t, err)
//		defer client.Close()
//		...
//	}
//
// Package testing/curatortest connects the client in one line.
//
// [Run] is for programs that embed a server, and [StartEnsemble] for several
// servers with one history. With [WithTCP] clients in other processes and in other
// languages can connect. MODEL.md, beside this file, says what is modelled and what
// is not, and holds the table of all requests.
//
// # Losing a session
//
// The usual way is a client that is cut off for longer than its session timeout. A
// [Host] is the machine on which clients run, and does that:
//
//	host := srv.NewHost()
//	client, err := framework.New(srv.Addr(), framework.WithDialer(host.Dialer()))
//	...
//	host.LoseSessions() // the client gives up in time, and somebody else takes over
//
// [Session.Expire] ends a session at once, which no client can foresee.
//
// # Concepts
//
//   - A [Server] has methods that do what happens to servers and networks, such as
//     [Server.Stop] and [Server.CutAll]; methods that change the tree as an operator
//     would, such as [Server.Create]; methods that look in, such as [Server.Tree]
//     and [Server.Requests]; and methods that wait, such as [Server.WaitFor].
//   - A [Session] is a handle on one session: [Server.Session].
//   - A [Rule] aims an [Action] at single requests: drop it, drop its answer, delay
//     it, call the test in the middle of it. [Server.Inject] puts it to work.
//   - A [ChaosPlan] makes any of this happen by chance, the same way for the same
//     seed: [WithChaos].
//
// # Time
//
// Timeouts, expiry, the clocks of TTL nodes and every delay use package time. A
// server that is started inside a bubble of testing/synctest therefore lives in the
// bubble's time: a session of hours passes in milliseconds, and sessions expire to
// the nanosecond. Real time works as well, and with [WithClock] time passes when the
// test says so.
//
// A session expires exactly its timeout after the server has last heard of its
// client. With [WithTick], and always in an ensemble, it expires at the next
// multiple of the tick. If a client is heard of at that very instant, the scheduler
// of goroutines decides which comes first.
//
// A bubble ends only when all of its goroutines have, so close clients before the
// server. [Start] closes the server by Cleanup, which is late enough for clients
// that are closed by defer, or by a Cleanup that is registered after Start.
//
// # Faults
//
// A fault is chosen at the level at which it would go wrong:
//
//   - a request: [Server.Inject] with an [Action], or [All] of several;
//   - a connection: [Session.Cut], [Session.Blackhole], or one direction of it, until
//     [Server.Heal];
//   - a session: [Session.Expire], [Session.Replace], [Session.Pause];
//   - a machine of clients, with its connections, present and future:
//     [Host.LoseSessions], [Host.Isolate], [Host.Disconnect], [Host.Suspend];
//   - a server: [Server.Stop], [Server.Pause], [Server.RefuseConnections],
//     [Server.BlackholeAll];
//   - a clock: [Server.JumpClock], [Server.SetClockRate], [Server.SetClockOffset];
//   - the network between servers: [Ensemble.Partition], [Member.Lag];
//   - the order of things: [Server.SetSequence], [ReplyFirst], [EventFirst].
//
// # Mistakes of the test
//
// Arguments that make no sense never panic and are never ignored. [Run] and
// [RunEnsemble] return an error for options that are nil or impossible; [Start] and
// [StartEnsemble] fail the test. Rules and clock rates that make no sense fail the
// test of a server from Start. A server from Run has no test: there,
// [Injection.Err] and the error of [Server.SetClockRate] say what is wrong.
//
// # Ordering
//
//   - Requests of one connection are carried out, and answered, in order.
//   - A watch event is sent before the answer to any later request on the same
//     connection, and before the answer to the write that caused it. It never comes
//     before the answer to the request that set the watch. Only [ReplyFirst] and
//     [EventFirst] break this order.
//   - The header of an answer carries the last transaction that the server has
//     applied. For a successful write that is the write itself.
//   - Operations of different connections are atomic and have one total order,
//     which is that of [Server.Requests] and, for writes, of their zxids.
//   - Listings come in a random order, each time in another one, because a real
//     server promises none. Under [WithChaos] the order is drawn from the seed.
//
// The examples are complete: a service that loses its lock, a machine that sleeps
// while it holds one, a hand-over of leadership, an embedded server. The program
// cmd/zkfake is a server for other languages.
package zktest
