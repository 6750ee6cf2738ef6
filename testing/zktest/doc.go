// Package zktest is a ZooKeeper server inside the test's process. It speaks the
// real wire protocol, so that a test runs the program with its real client. It
// needs no port, no Java and no waiting.
//
//	func TestService(t *testing.T) {
//		srv, client := curatortest.Start(t)
//		...
//		srv.Session(client.SessionID()).Expire()
//		...
//	}
//
// Other clients connect to [Server.Addr], or in a bubble of testing/synctest through
// [Server.Dialer]. [Run] is for programs that embed a server, and [StartEnsemble]
// starts several with one history. [MODEL.md] says what is modelled, and in which
// order a client sees things.
//
//   - A [Server] has methods for what happens to servers and networks, such as
//     [Server.Stop]; for what an operator does, such as [Server.Create]; for a
//     look inside, such as [Server.Tree]; and for waiting: [Server.WaitFor].
//   - A [Session] is a handle on one client's session. [Session.Expire] ends the
//     session at once, without a warning.
//   - A [Host] is a machine of clients. [Host.LoseSessions] cuts the host off for
//     longer than the timeout, which is how clients usually lose their sessions.
//   - A [Rule] aims an [Action] at single requests: [Server.Inject].
//   - A [ChaosPlan] makes servers and sessions fail by chance, the same way for
//     the same seed: [WithChaos].
//
// The server's time comes from package time. In a bubble of testing/synctest a
// session of hours passes in milliseconds. A session ends exactly one timeout after
// the server has received the client's last request; an ensemble rounds that up.
// Close clients before the server, which [Start] closes by Cleanup: a bubble waits
// for all its goroutines, and panics if some are left. The test's log then names
// the clients of package framework that were not closed.
//
// Each function says which arguments it refuses. A refused argument fails the
// test that was given to [Start] or [StartEnsemble]. A server of [Run] returns an
// error instead.
//
// [MODEL.md]: https://github.com/gocurator/curator/blob/main/testing/zktest/MODEL.md
package zktest
