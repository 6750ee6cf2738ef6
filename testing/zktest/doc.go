// Package zktest is a ZooKeeper server inside the test's process. The server speaks the
// real wire protocol, so a test runs the program with its real client. A test needs no
// port, no Java and no waiting.
//
//	func TestService(t *testing.T) {
//		srv, client := curatortest.Start(t)
//		...
//		srv.Session(client.SessionID()).Expire()
//		...
//	}
//
// Other clients connect to [Server.Addr], or in a bubble of testing/synctest through
// [Server.Dialer]. [Run] is for programs that embed a server, and [StartEnsemble] starts
// several servers with one history. [MODEL.md] lists what is modelled, and the order in
// which a client receives answers and events.
//
//   - A [Server] has methods for faults of servers and networks, such as [Server.Stop];
//     for the work of an operator, such as [Server.Create]; for inspection, such as
//     [Server.Tree]; and for waiting: [Server.WaitFor].
//   - A [Session] is a handle on one client's session. [Session.Expire] ends the session
//     at once, without a warning to the client.
//   - A [Host] is a machine on which clients run. [Host.LoseSessions] is the usual loss of
//     sessions: it cuts the clients off for longer than the session timeout.
//   - A [Rule] applies an [Action] to single requests: [Server.Inject].
//   - A [ChaosPlan] makes servers and sessions fail at random, in the same way for the
//     same seed: [WithChaos].
//
// The server's time comes from package time. In a bubble of testing/synctest, a session of
// hours takes milliseconds, and expires exactly at its timeout after the client's last
// request. An ensemble rounds that time up. Close clients before the server, which [Start]
// closes by Cleanup: a bubble waits for all its goroutines, and panics if some are left.
// The test's log then names the clients of package framework that were not closed.
//
// Each function documents the arguments that it refuses. For a server of [Start] or
// [StartEnsemble], a refused argument fails the test. For every other server, it is an
// error.
//
// [MODEL.md]: https://github.com/gocurator/curator/blob/main/testing/zktest/MODEL.md
package zktest
