// Package framework is a managed ZooKeeper client: it connects, keeps a session, makes a new one when the old is lost,
// and says so. Package recipes is built on it; it can be used alone.
//
//	client, err := framework.New("zk1:2181,zk2:2181,zk3:2181/shop",
//		framework.WithSessionTimeout(15*time.Second))
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//
//	data, stat, err := client.Get(ctx, "/stock/sku-42")
//	...
//	_, err = client.Set(ctx, "/stock/sku-42", data, stat.Version)
//
// There are few types. A [Client] has the operations. A [Session] is what ephemeral nodes live in: its context ends
// when they can no longer be trusted. A [Watch] waits for one change. Errors of operations are an [*OpError], in which
// errors.Is finds the zk.Err values of go-zookeeper and the context's error. Users import
// github.com/go-zookeeper/zk for those errors, for access control lists, and for zk.Stat; never for a connection.
//
// # Contexts
//
// Every operation returns when its context ends. A request that was sent cannot be taken back, and may still be carried
// out; a write then returns an error that matches [ErrOutcomeUnknown]. What such a request creates for a [Protected]
// node, or leaves of a [Guaranteed] delete, is cleaned up by the client itself, on no caller's context, until it is done
// or the client is closed. It gives up, with a warning in the log, if a server
// refuses the clean-up, or fails at it twenty times.
//
// An operation waits for a connection, at most as long as its context and [WithConnectionTimeout] allow. It is tried
// again, by the policy of [WithRetry], if the connection broke. A write whose reply was lost is looked up before it is
// repeated, unless repeating it makes no difference; each method says what it does. One thing cannot be looked up: a
// request of a session that was lost may still be on its way in a slow server, and be carried out late. Versions guard
// against that, and so does the session for ephemeral nodes.
//
// # Connection states
//
// [Client.States] tells every transition, in order; package state explains them. Recipes need no listener of yours.
// [Client.DampedStates] tells little while the connection comes and goes, for work that is costly to start again.
//
// In an outage, operations wait, and return errors when their time is up; the client goes on trying to connect. It does so
// in silence: without [WithLogger], a [Tracer] or a reader of States, nobody is told why things are slow. The errors of
// operations that have waited for a connection hold the last attempt's.
//
// # Sessions
//
// The client declares a session lost when the server says so, when a server hands it another session than it asked
// for, or when its time is up: nine tenths of the negotiated timeout after it sent the last request that was answered.
// That is before the server can end the session, because the server counts from the arrival of the same request or a
// later one. Java Curator counts from the moment it notices that the connection is gone, which may be two thirds of a
// timeout later.
//
// What depends on the session hears of its end through [Session.Context], and through [Session.Trusted] if
// an interruption of the connection is bad enough; see state.ErrorPolicy.
//
// [WithSafetyMargin] sets another part than nine tenths. [Client.InSession] runs operations that must all be of one
// session: what is called with its context is not carried out in a later one.
//
// What that bounds, and what it does not:
//
//   - Counting every answer, the default, is in time whatever happens to the
//     network between this process and the servers, if its clock is no more than
//     a tenth slower than theirs, and if the servers live and reach each other.
//   - A server that is cut off from the rest of its ensemble goes on answering,
//     for up to syncLimit times tickTime, and a leader for a tick longer, while
//     the others end the session. Only [WithStrictContact] is in time then: it
//     counts what a leader has confirmed while a majority followed it.
//   - A follower that dies right after an answer may not have told its leader of
//     the client. If that reaches no other server, its session ends too late, by
//     up to a third of the timeout less the safety margin: 3.5 seconds of 15. A
//     margin of 0.4 is enough against that, and so is strict contact.
//   - A machine that was suspended ends its session within about a second of
//     waking, if the session's time is over by then; see [Session.Context] for the
//     systems and for what remains open.
//   - Nothing here helps a process that is stopped: it learns nothing until it runs again. Only a fencing token does; see
//     package recipes.
//
// # Rights and limits
//
// [WithAuth] and [Client.AddAuth] authenticate every connection before anything else is sent on it. Credentials are sent as
// they are, the passwords of the digest scheme included: without [WithTLS], whoever sees the traffic has them. There is no
// SASL, and so no Kerberos. Nodes are open to everybody, also to be deleted, unless [WithACLProvider] or the call says
// otherwise.
//
// A connection takes 768 requests or 4 MiB ahead of the server. Further callers
// wait in line, each as long as its own context allows. A server takes 1000
// requests of all its clients together, unless it is told otherwise. Then it stops
// reading, and pings come too late. Requests that servers would cut the connection
// for are [ErrRequestTooLarge]; see [WithMaxRequestSize]. The paths of a session's
// ephemeral nodes should be less than a megabyte together; see [Client.Close].
//
// What answers on a server's port need not be a server. A handshake that ZooKeeper
// would not send ends the attempt, and memory is taken for what has arrived, and
// not for what was announced: up to 64 MiB for one answer.
//
// # Namespaces
//
// [Client.Namespace] returns a view that puts a path before every path, and takes it from those that come back. Views
// share all else: they are one client with one session, and closing one closes all.
//
// # Transactions and rights
//
// [Client.Transaction] carries out several operations or none. [WithAuth] says who the client is, [WithACLProvider] who
// may do what to the nodes it creates, [WithACL] the same for one node.
//
// # Servers
//
// A client tries each server once, in an order of its own, and then again after a pause that grows from 50 milliseconds
// to a second, with jitter. Names are resolved by each attempt. For ensembles that change, [WithServers] asks for the
// list before each round; [ResolveDNS] answers with all addresses of some names, as they are then. The session goes on,
// on whichever server. [WithTLS] puts TLS on every connection.
//
// An attempt to connect leaves time for the other servers within two thirds of the session timeout. A client that has
// no session to lose has more time with each round that has failed, up to the longer of the session timeout and the
// connection timeout: an ensemble may take long to create a session. Sessions that are lost one after the other are
// followed by the next after pauses that grow to ten seconds. A server that grants less than 100 milliseconds, and less
// than was asked for, is not used.
//
// # Tracing and logging
//
// A [Tracer] is told of every operation, and of every state with its circumstances. Without one, nothing is allocated
// for it (BenchmarkGet). Other packages tell a Tracer more, if it has more methods. The one of package tracing makes
// spans and metrics for OpenTelemetry. [WithLogger] gets a line for each state, with the session, the server, and the
// cause of a loss.
//
// Both may be slow, or block. The lines wait for their handler in a queue, and nobody waits for them but Close, for a
// second at most. A Tracer delays the operations that you call, but neither the session, nor what goes on in the
// background, nor Close for more than a second. A [Teller] makes the calls.
//
// # What is promised
//
// Each line names the tests that hold it; SCENARIOS.md has more.
//
// On interruption: reads are repeated, and no write that counts is applied twice. (TestReadsAreRepeatedAfterALostRequestOrReply,
// TestVersionedSetIsFoundOutAndNeverAppliedTwice, TestProtectedCreateMakesExactlyOneNodeWhateverIsLost)
//
// On outcomes: a write that returns no error was carried out, and one whose error does not match [ErrOutcomeUnknown] was
// not, but for parents that were made and children that were deleted first. (TestNoWriteLiesAboutItsOutcomeWhateverIsLost,
// TestNoWriteLiesAboutItsOutcomeWheneverItIsCancelled)
//
// On loss: the session's context ends before the server deletes its nodes, and every state is told, in order.
// (TestSessionEndsBeforeTheServerDeletesItsNodesInASilentPartition, TestSlowReadersMissNothingAndDelayNobody) With strict
// contact, that holds for a server that is cut off from the others, too, and for one that dies.
// (TestRealEnsembleStrictContactEndsTheSessionBeforeTheLeaderDoes,
// TestRealEnsembleStrictContactEndsTheSessionOfADeposedLeaderInTime, TestFollowerThatDiesGivesNothingAwayTooSoon; that
// healthy sessions live: TestStrictContactKeepsAHealthySession, TestStrictContactKeepsASessionWhoseWritesAreSlow)
//
// On credentials: they hold on every connection, in every session, before every request, and a server that refuses them
// is told at once. (TestCredentialsHoldOnEveryConnectionAndInEverySession, TestRefusedCredentialsFailAtOnce,
// TestRealServerNoRequestOvertakesTheCredentials, TestConnectionsThatDieDuringAuthenticationAreReplaced)
//
// On load: what is under way is bounded, and nobody outlasts its context. (TestCallersWaitWhenTooMuchIsUnderWay,
// TestServerHasLessUnderWayThanWouldStopItFromReading,
// TestRequestsThatServersWouldCutTheConnectionForAreNotSent) If the answers of
// thousands of creates are lost, a few lists find their nodes. Thousands of clean-ups take little memory, none of them holds
// up another, and none is tried for ever if the server fails at it. (TestDoubtfulNodesOfAParentAreLookedForTogether,
// TestDoubtfulNodesOfAParentAreCleanedUpTogether, TestCleanUpsInAnOutageCostLittleMemoryAndNoGoroutines,
// TestCleanUpThatAServerFailsAtIsGivenUpSomeTime, TestCleanUpThatAlwaysBreaksTheConnectionHoldsUpNoOther,
// TestCleanUpOutlastsManyInterruptions) A large tree that is deleted is not in memory as a
// whole.
// (TestDeleteWithChildrenOfALargeTree, TestLargeTreeIsNotInMemory)
// Impostors on a server's port take no memory. (TestHandshakesOfImpostorsTakeNoMemory)
//
// On cancellation: an operation returns at that moment, whatever it awaits, and leaves nothing behind.
// (TestOperationReturnsAtOnceWhenItIsCancelledWhateverItAwaits, TestGuaranteedDeleteOnACancelledContextIsDone,
// TestContextEndsAnOperationWhosePeerDoesNotRead)
// Nor does a callback that panics leave anything behind. (TestPanicOfTheACLProvider, TestPanicOfTheRetryPolicy)
//
// On arguments: one that is nil is an error that names it, and no panic. (TestNilArgumentsAreErrors)
//
// In a series of operations that must be of one session: none is carried out in a later one, not even as a retry.
// (TestInSessionNothingIsDoneInALaterSession, TestInSessionARetryDoesNotMoveToALaterSession)
//
// On namespaces: paths in results, events and errors are the view's, and all views are one client.
// (TestNamespaceIsPutBeforeEveryPathAndTakenFromWhatComesBack, TestNamespaceIsTakenAwayOnceFromPathsThatRepeatIt,
// TestViewsAreOneClient)
//
// On the safety margin: it is a part of the negotiated timeout, and an idle session lives with any that is allowed.
// (TestSafetyMarginIsAPartOfTheNegotiatedTimeout, TestIdleSessionLivesWithTheLargestSafetyMargin)
//
// On connecting:
//   - Every server is tried once before any pause, and dead or mute ones leave time for the last.
//     (TestEveryServerIsTriedOnceBeforeAnyPause, TestMuteServersLeaveTimeForTheLastOne)
//   - The session survives a move to another server or another address. (TestSessionMovesToAServerThatLives,
//     TestNamesAreResolvedByEachDial, TestChangedServersTakeEffectAtTheNextReconnectAndTheSessionGoesOn)
//   - Without a good answer of WithServers the servers known before are tried, and ErrNotConnected says why.
//     (TestKnownServersStayWhenThereIsNoGoodAnswer, TestServersFuncThatHangsIsGivenUp)
//   - One dead name does not stop ResolveDNS. (TestResolveDNS)
//   - Failures of TLS are named, and leave time for the other servers. (TestTLSFailuresAreNamed,
//     TestTLSHandshakeEndsWithTheAttempt)
//   - A slow ensemble is given more time with each round. (TestNewClientConnectsToASlowEnsemble)
//   - No server makes the client ask without pauses. (TestServerThatLosesEverySessionIsAskedMoreAndMoreSeldom,
//     TestSessionThatHasLivedIsFollowedByTheNextAtOnce)
//   - Operations say why there is no connection, also to callers with little patience.
//     (TestOperationsTellWhyThereIsNoConnection, TestTimeoutOfADialIsNotTheCallersDeadline)
//   - Credentials that are refused everywhere are told once, tried seldom, and leave no sessions; one server that
//     refuses them is passed over. (TestRefusedCredentialsAreToldOnceAndTriedMoreAndMoreSeldom,
//     TestRefusedCredentialsLeaveNoSessions, TestOneServerThatRefusesCredentialsIsPassedOver)
//
// On tracing: a Tracer is told of every client, every operation and every state, in order; a slow one delays no state and
// misses none. One that blocks holds up Close for a second at most. (TestTracerIsToldOfEachClientOnce,
// TestTracerIsToldOfEveryOperation, TestTracerIsToldOfEveryStateFromTheFirst, TestSlowTracerDelaysNobodyAndMissesNothing,
// TestTracerThatBlocksHoldsUpCloseForASecondAtMost)
//
// On logging: a handler that blocks holds up nothing. Lines keep their order, their times and their contexts, and Close
// waits until all are written, for a second at most. If thousands wait, further ones are dropped, and a line says how many.
// (TestLogHandlerThatBlocksHoldsUpNothing, TestLoggedLinesKeepTheirOrderTimesAndContexts, TestCloseWritesEveryLine,
// TestFullLogQueueDropsTheNewestLinesAndSaysSo)
//
// On damped states: the first state without a connection is told at once, the return when the connection has lasted.
// (TestDamper, TestDampedStatesTellLittleWhileTheConnectionFlaps)
//
// On suspended machines: their sessions end within a second of waking. (TestSessionEndsWithinASecondOfWaking,
// TestShortSuspensionShortensTheTimeOfTheSession)
//
// On Close: everything that was started has ended when it returns, within about a second. The session is ended on the
// server, also if the connection was cut at that moment, unless it was lost.
// (TestCloseIsBoundedAndEndsEveryOperation, TestCloseMayBeCalledTwiceAndConcurrently,
// TestCloseWithoutAConnectionComesBackToEndTheSession, TestCloseDoesNotEndALostSession) Nodes that are too many for that
// are deleted before. (TestCloseDeletesNodesThatAreTooManyForOneTransaction, TestWarningOfTooManyEphemeralNodes)
//
// On watches:
//   - A watch fires once, for the next change after the reading that set it. (TestWatchFiresForEachKindOfChange)
//   - All waiters for the same table of the same node share one watch on the server.
//     (TestWaitersShareOneWatchAndOneWatchRequest)
//   - A watch survives reconnects in its session; a change that happened in between is told then, once.
//     (TestWatchSurvivesAReconnectInTheSameSession)
//   - A watch that nobody waits for is taken back from the server. (TestStoppedWatchLeavesNothingOnTheServer,
//     TestWatchOfAContextThatEndedLeavesNothingOnTheServer)
//   - A watch ends with its session, with an error that matches [ErrSessionLost]. (TestWatchEndsWithItsSession)
//   - A read that follows a change never overtakes the change's event, not even after a reconnect.
//     (TestRealServerHundredsOfReconnectsUnderLoad; see also the tests of framework/internal/transport)
package framework
