// Package recipes holds coordination between processes that share a ZooKeeper ensemble.
//
//   - Use [InterProcessMutex] if one process at a time may do something; with [WithLocalHandOver], if many goroutines of a
//     process want it.
//   - Use [InterProcessReadWriteLock] if many may look at something at once, and one alone may change it.
//   - Use [InterProcessSemaphore] if no more than n may do something at once, or if some need several of n pieces.
//   - Use [InterProcessSemaphoreMutex] if one at a time may do something, and a second acquire under the first must wait,
//     or if Java uses that class.
//   - Use [InterProcessMultiLock] if something needs several locks, all or none of them.
//   - Use [LeaderLatch] if one of several processes at a time should do what all of them could, for as long as it lives, and
//     the next should take over at once.
//   - Use [LeaderSelector] if that is a function with a beginning and an end, and the next should take over only when it has
//     returned; or if the leader should also exclude, or be excluded by, an [InterProcessMutex].
//
// Each is acquired, held and released in the same way:
//
//	mutex := recipes.NewInterProcessMutex(client, "/locks/sku-42")
//	lease, err := mutex.Acquire(ctx) // waits until ctx ends
//	if err != nil {
//		return err // says how many are ahead, who holds the lock, and when that was seen
//	}
//	defer lease.Release(ctx) // right for any ctx, also in an outage
//
//	work, done := lease.Under(ctx) // ends with the lease, and with ctx
//	defer done()
//	return sell(work, lease.FencingToken())
//
// A held lock is a [Lease], and a lease is a context: the lock is held exactly as long as [Lease.Context] is alive.
// Work under it, or, to be stopped by your caller's context as well, under [Lease.Under], and stop when it ends. There is
// no method that asks whether a lock is held, because the answer could be old when it arrives.
//
// A holder that is asked to give its lock up, by [Revoke], hears of it by [Lease.Revoked], or loses the lease if the lock is
// [Revocable].
//
// # How it works
//
// Each contender creates an ephemeral sequential node below the lock's path. The server numbers them; the lowest number
// holds the lock. A waiter watches only the node right ahead of its own, so that a release wakes one waiter, however
// long the queue. The node of a process that has crashed is deleted by the server when its session times out.
//
// # Who holds what
//
// Each contender's node says who it is, in an [Identity]: host, process, service, and since when it waits. Those who do
// not get a lock are told, by [NotAcquiredError], and anybody by the Participants of a lock. [WithoutIdentity] and
// [WithNodeData] change that.
//
// With package tracing, waits and holds are spans and metrics, and a waiter's span leads to the holder's. Without it, a
// client's logger gets a line for each lock that is lost, with the context of the work under it; for each lease that is
// dropped without a release; for a leader's work that goes on after its leadership, and for a LeaderLatch that the server
// gives trouble. Nothing else is logged.
//
// What others have written below a lock's path is kept and shown with care. Of a node's data no more than 4 KiB are kept.
// Tracers get names that can be printed, in quotes if need be, and an Identity has nothing that cannot.
//
// # What is promised
//
// Each line names the test that holds it. "Both" tests run in virtual time on zktest, and on real ZooKeeper.
//
// Exclusion and order:
//   - No two holders have live contexts at once, whatever happens to connections and sessions, within the
//     limits below. (TestOneHolderUnderRandomFaults; both: TestOneHolderAndHandOver, TestGoroutinesOnOneMutexExcludeEachOther)
//   - Waiters are admitted in order of arrival. (both: TestWaitersAreAdmittedInOrderOfArrival)
//   - A lock is the same through every namespace of a client. (both: TestLockIsTheSameThroughEveryNamespace)
//   - Fencing tokens grow from holder to holder. WithLocalHandOver, a downgrade and a re-entry keep the token of the node
//     that they go on with. (both: TestFencingTokenIsTheNodesCzxidAndGrows)
//   - Nodes that are not the recipe's have no influence. (both: TestForeignChildrenDoNotBlock)
//   - Nodes that somebody names like contenders may block a lock, but they let
//     nobody in beside its holder.
//     (both: TestForgedNamesLetNobodyInBesideAHolder; TestForgedNamesMakeNoSecondLeader,
//     TestForgedNamesLetNobodyThroughASemaphoresGate)
//   - All that holds beyond 2^31 contenders of one path, when the server has no
//     number left for new ones. Then a reader cannot take the place of its own
//     writer, which is [ErrCorrupted], and Java Curator must not share the path,
//     as its order is by number alone.
//     (both: TestOneHolderWhenTheSequenceIsUsedUp, TestOneLeaderWhenTheSequenceIsUsedUp,
//     TestDowngradeIsRefusedWhenTheSequenceIsUsedUp)
//   - A release wakes one waiter with one event. (TestNoHerd)
//   - An acquire and release that nobody contends is three requests. (TestUncontendedCycleIsThreeRequests)
//   - Every lock gets through, and nothing is left, whatever happens to any one of its requests. (TestFaultAtEveryRequest)
//   - A client, an option or a lock that is nil, and a value that no constructor has made, are errors of every call that
//     needs them, with a framework.ConfigError. (TestWithoutAClientEveryCallIsAnError, TestZeroLatchIsOver,
//     TestNilOptionsAndLocksAreErrors)
//   - Work that is nil is an error, and nothing is acquired for it. (TestWorkThatIsNilIsAnError)
//   - An error names the call that it answers: acquire, await, lead, run. (TestErrorsNameTheCall)
//   - Whoever gives up waiting in an outage is told that there is no connection.
//     (TestWaiterInTheProcessIsToldOfAnOutage, TestWaiterAtTheServerIsToldOfAnOutage,
//     TestAwaitWithoutAConnectionTellsOfTheLastAttempt)
//   - If the user's code panics during an acquire, such as an ACL provider or a Locker in a multi-lock, neither a node nor a
//     place in the process is left behind. (TestPanicOfTheUsersCodeLeavesNothingBehind,
//     TestPanicOfTheRetryPolicyLeavesNoNodeBehind, TestPanicOfTheTracerLeavesNoWaiterBehind,
//     TestPanicOfTheTracerLeavesNoLockHeld, TestPanicOfTheTracerLeavesNoNodeInTheQueue)
//
// InterProcessMutex and the semaphores, among the goroutines of one client, whatever objects they use:
//   - No more than the holder and the next have nodes; to wait and to leave costs the server nothing, and each leaves
//     within a time that does not depend on how many others do.
//     (TestOnlyTheHolderAndTheNextOfAnObjectAreAtTheServer, TestObjectsOfOneLockShareTheQueueInTheProcess,
//     TestObjectsOfTwoViewsShareTheQueueInTheProcess, TestWaitingInTheProcessCostsTheServerNothing,
//     TestTenThousandWaitersGiveUpTogether)
//   - Ten thousand at once are no burden for the session that they share, nor for the server.
//     (TestTenThousandAcquiresOfOnePathWithAnObjectEach, TestTenThousandWaitersOutliveTheirSession)
//   - Each acquire has the options of its own object. (TestEachObjectKeepsItsOwnOptions)
//   - A turn is not lost, whoever gives up, fails, or loses the lock.
//     (TestTurnThatComesWithTheCancellationIsNotLost, TestFailedAcquireGivesItsPlaceBack,
//     TestFailedAcquireGivesItsPlaceToTheNextObject, TestLostLeaseFreesItsPlaceInTheProcess)
//   - Nothing is kept of a lock that nobody wants. (TestNothingIsKeptOfALockThatNobodyWants)
//
// InterProcessMutex, among the goroutines that share one object:
//   - WithLocalHandOver passes the lock on without a request, within its bounds, and never one that is lost, revoked or
//     deleted. The fencing token stays the same meanwhile.
//     (TestLocalHandOverCostsNoRequest, TestLocalHandOverIsBounded, TestLostLockIsNotHandedOver,
//     TestHandedOverLockIsStillGuarded, TestLossDuringTheHandOverHasItsReason, TestLocalHandOverUnderRandomFaults)
//   - WithQueueLimit fails at once when too many are ahead. (TestQueueLimitFailsAtOnce)
//
// InterProcessReadWriteLock:
//   - A writer is alone, and readers are beside readers only.
//     (TestReadersAndWritersUnderRandomFaults; both: TestReadersShareAndWritersDoNot, TestReadersAndWritersUnderLoad)
//   - Everybody is admitted in the order of arrival. (TestReadersAndWritersAreAdmittedInOrder)
//   - A writer's token is larger than that of everybody before it. (TestReadersAndWritersUnderRandomFaults)
//   - Who holds the write lock may take the read lock in its place: no other writer comes in between. That lasts through
//     interruptions; who has lost the write lock is told so.
//     (both: TestDowngradeKeepsItsPlace; TestDowngradeOutlastsAnInterruption, TestDowngradeThatComesTooLate,
//     TestLostWriterDoesNotDowngrade)
//   - The reverse is refused instead of waiting for itself. (TestUpgradeIsRefused)
//   - A writer's release wakes nobody in vain. (TestNoHerdOfReadersAndWriters)
//
// InterProcessSemaphore:
//   - There are never more leases than the limit. (TestSemaphoreUnderRandomFaults; both: TestSemaphoreHasItsLimitOfLeases,
//     TestSemaphoreIsNeverExceeded)
//   - Several leases are had together or not at all, so that two who want several do not wait for each other. Their
//     context ends with any of them. (both: TestSeveralLeasesAreAllOrNone; TestLeaseOfSeveralEndsWithAnyOfItsNodes)
//   - A shared limit that is raised admits those who wait, and one that is lowered takes nobody's lease.
//     (both: TestSharedLimitIsRaisedWhileSomeWait; TestTryAcquireAtALimitOfZero)
//   - A limit that is too low is named, and so is its path if that cannot be used. (TestLimitThatIsTooLowIsNamed,
//     TestBadPathOfASharedLimitIsNamed)
//   - Who waits loses session, lease or gate, and begins anew. (TestSemaphoreWaiterGoesOnInTheNextSession,
//     TestSemaphoreWaiterWhoseNodesAreDeletedGoesOn, TestTwoAtTheLeasesDoNotWaitForEachOther)
//   - TryAcquire is not refused because of what its caller has just acquired, released or given up.
//     (both: TestLeasesCanBeTriedForOneAfterTheOther; TestTryAcquireOfSeveralDoesNotNameItself)
//   - Only the first of those who wait looks at the leases. (TestNoHerdAtTheSemaphore)
//
// InterProcessMultiLock:
//   - All locks or none, in an order in which two cannot wait for each other, and within one deadline.
//     (both: TestMultiLockIsAllOrNone, TestMultiLocksDoNotDeadlock; TestMultiLockStopsAtTheFirstFailureWithOneDeadline)
//   - If one is lost while others are waited for, all is begun again; afterwards it ends the context of all.
//     (TestMultiLockBeginsAgainAfterALoss)
//   - One that cannot be released keeps nobody from the others. (TestMultiLockReleasesTheOthers)
//
// When somebody asks for the lock:
//   - The holder is told, in whatever order it asks for that, and nothing is forced; the context of a Revocable lock ends.
//     (both: TestHolderIsAskedToGiveTheLockUp, TestRevocableLockEndsItsContext;
//     TestRevocationIsNoticedInWhateverOrderItIsArmed)
//   - Nothing but nodes of locks is touched. (TestRevokeTouchesNothingButNodesOfLocks)
//
// LeaderLatch and LeaderSelector:
//   - No two leaders have live contexts at once, and tokens grow from leader to leader, whatever happens to connections,
//     sessions and servers, within the limits below. An hour of it for each of 200 seeds, on one server and on ensembles of
//     three. (TestOneLeaderUnderRandomFaults; both: TestIsolatedLeaderStopsBeforeTheNextBegins)
//   - On an ensemble: they outlive the leader of the servers, a restart of all of them without loss of leadership, and the
//     loss of all data. In the minority of a partition, a leader with framework.WithStrictContact stops before the majority
//     has another; without it, only the tokens tell the two apart. (TestLatchMovesToAnotherServer,
//     TestLatchOnADeadServerIsSucceededByOne, TestSelectorMovesToAnotherServer, TestSelectorOutlivesItsEnsemble,
//     TestLeadersOutliveARollingRestart, TestLeadersOutliveTheirEnsemblesData, TestLeaderInTheMinority)
//   - When the last fault is over, somebody leads within the time of two sessions, and of the work that does not stop.
//     When all have closed, nothing is left. (TestOneLeaderUnderRandomFaults)
//   - They lead in the order of standing. (both: TestLatchesLeadInTheOrderOfStanding, TestSelectorsTakeTurns)
//   - A leader whose node was deleted stops when it hears of that, for which it looks out from the beginning, and stands
//     again; so does a candidate. (both: TestLeaderNoticesTheDeletionOfItsNode, TestCandidateNoticesTheDeletionOfItsNode,
//     TestLatchesOutliveTheDeletionOfEverything, TestSelectorsOutliveTheDeletionOfTheirNodes)
//   - A leader who is asked to, by Revoke, steps down at once, or WithGrace when that is over.
//     (both: TestLeaderIsRevoked, TestSelectorIsRevoked; TestRevokedLeaderHasItsGrace, TestSelectorsGrace)
//   - HandOver lets the work finish, and ends it when its time is up. It is refused if there is no successor. Who was asked
//     to step down does not lead again with the same node.
//     (both: TestLeaderHandsOverInTime, TestSelectorHandsOverInTime, TestHandOverNeedsALeaderAndASuccessor;
//     TestHandOverIsForcedAtItsDeadline, TestHandOverEndsTheLeadershipWithItsContext, TestHandOverRacesWithARevocation,
//     TestLeaderIsLostDuringItsHandOver, TestLeaderIsInterruptedDuringItsHandOver, TestGraceEndsWithAnInterruption,
//     TestHandOversOfOneLeadershipAreOne)
//   - Resigning passes the leadership on, and does not touch a later one. (both: TestLeaderResigns, TestSelectorResigns;
//     TestResignationsAtOnce)
//   - Resign and HandOver return when the node is gone. The leader itself may call them: they do not wait for it then.
//     (TestSteppingDownWaitsForTheNode, TestHandOverWhileRunIsBeingCancelled, TestLeaderStepsDownItself)
//   - Errors that waiting does not cure are returned, and not tried for ever.
//     (both: TestLatchWithoutRightsDoesNotLoop, TestSelectorWithoutRightsDoesNotLoop)
//   - Leader and Participants tell who leads and stands, also while that changes.
//     (both: TestWhoLeadsAndWhoStands, TestParticipantsOfSelectors)
//
// LeaderLatch:
//   - An interrupted leader under state.StandardPolicy leads again with the same node if its session has survived, or else
//     stands again. Under state.SessionPolicy it leads on. Neither leaves anything behind.
//     (both: TestStandardPolicyLeadsAgainWithTheSameNode, TestStandardPolicyQueuesAgainInTheNextSession,
//     TestSessionPolicyLeadsThroughAnOutage; TestInterruptedLeaderLeadsAgainWithItsNode)
//   - It never leads with a node of an old session. (TestLatchDoesNotLeadWithANodeOfItsOldSession)
//   - It has one node, whatever happens at once. (TestLatchHasOneNode)
//   - It may start before there is a server. (TestLatchMayStartBeforeThereIsAServer)
//   - Outages, losses of the session and servers in trouble do not end it, whatever happens to any one of its requests, or
//     at that moment. (TestCandidacyOutlastsTheServersTrouble, TestCandidacyUnderAFaultAtEveryRequest,
//     TestDeedAtEveryRequestOfACandidacy)
//   - Lead does the work of each leadership, and stops it whenever that ends, in each of the ways of its table. A hand-over
//     takes as long as the work needs to stop. (both: TestHandOverOfALeadIsQuick; TestEveryEndOfALeadership,
//     TestHandOverTakesAsLongAsTheWork, TestWorkMayStopWithinItsGrace, TestWorkOfALeadMayStepDown,
//     TestLeadGivesTheLeadershipUpWhenTheWorkPanics, TestLeadTellsThatItsNodeStays, TestLeadThatCannotBegin)
//   - Close ends it wherever it is, without a node, watch or goroutine left, and releases all who wait.
//     (TestCloseAtEveryAwaitPoint, TestCloseReleasesThoseWhoWait; both: TestClosedClientClosesItsLatches,
//     TestLatchIsStartedOnceAndClosedOften)
//   - Close returns when the node is gone, or says why it may not be; one whose creation is under way is seen to by the
//     client.
//     (TestCloseWaitsForTheNode, TestCloseOnAnEndedContextEndsTheLeadershipBeforeItReturns,
//     TestCloseWaitsNoLongerThanItsContext, TestCloseSaysThatTheServerRefusesTheDeletion,
//     TestCloseDuringTheServersTrouble)
//   - Done, Err, Await and Changes tell when it is over, and why. (TestLatchTellsTheEndOfItsCandidacy,
//     TestLatchThatNeverStoodTellsItsEnd)
//   - Changes tells every beginning and end in order, and of the end by CloseNotify, but not by Close.
//     (both: TestChangesAreToldInOrderWithClose; TestGrantThatComesWithClose)
//   - It does not stand in silence when the server is in trouble: that is logged, once for each kind of it, the pauses
//     grow from one second to 30, and an Await in vain tells the last error, or that of the last attempt to connect.
//     Credentials that the servers refuse end the candidacy. (TestCandidacyInTroubleSaysSo,
//     TestCandidacyInTroublePausesLongerAndLonger, TestAwaitWithoutAConnectionTellsOfTheLastAttempt,
//     TestRefusedCredentialsEndACandidacy)
//   - An Await in vain names the leader. It ends with its context, also while the latch leads.
//     (TestAwaitInVainNamesTheLeader, TestAwaitReturnsTheEndOfItsContextWhileItLeads)
//   - The lease of a leadership that was lost tells so when it is released. (TestReleaseOfALostLeadershipTellsTheReason)
//
// LeaderSelector:
//   - Its node stays until the work has returned, as long as the session lives. It does not stand again before that. Work
//     that takes too long is reported. (TestOneLeaderUnderRandomFaults, TestWorkThatDoesNotReturn,
//     TestWorkThatOutlastsItsSession, TestSelectorsWorkTakesLongerThanItsResignation, TestWorkThatReleasesItsLeaseKeepsItsPlace)
//   - Its node goes when the work has returned, whoever has re-entered the leadership.
//     (both: TestLeadershipEndsWithTheWorkWhoeverHasReenteredIt)
//   - Run returns the work's error, with the reason of the loss if there was one. A panic gives the leadership up.
//     (both: TestTermHasTheWorksError, TestWorkThatClosesItsClient; TestWorkThatEndsItsGoroutine)
//   - WithRequeue is told of each term. After one that has failed, there is a pause.
//     (TestRequeueIsToldOfEachTerm, TestRequeuePausesAfterAFailedTerm, TestRunIsCancelledDuringThePause)
//   - Work is not begun when Run's context has ended, and its own ends with that. (TestRunIsCancelledAroundTheGrant)
//   - It outlives losses of the session and of servers. (both: TestSelectorUnderBothPolicies, TestSelectorOutlivesItsSession,
//     TestSelectorOutlivesTheServersRestart, TestSelectorIsStoppedDuringAnOutage)
//   - It gets through, and leaves nothing, whatever happens to any one of its requests. (TestRunUnderAFaultAtEveryRequest)
//   - It runs once at a time, and not under its own leadership, nor under one that was lost.
//     (TestSelectorRunsOnce, TestRunUnderALostMutexTellsOfTheLoss)
//   - It excludes mutexes with the same path, but those that re-enter. (both: TestSelectorAndMutexExcludeEachOther)
//
// Do:
//   - It releases the lock whatever happens, a panic included. (both: TestDoHoldsTheLockWhileTheWorkIsDone;
//     TestDoReleasesWhenTheWorkPanics)
//   - It returns the error of the work itself, and tells of a loss that the work did not notice.
//     (TestDoReturnsTheErrorOfTheWorkItself, TestDoTellsOfALossThatTheWorkDidNotNotice)
//
// Identities and traces:
//   - A node says who its owner is, in no more than 512 bytes, and since when it has waited, through losses of the session.
//     (both: TestIdentityIsWhatThisProcessSaysOfItself; TestIdentityIsBounded,
//     TestIdentityBeginsWithTheWaitAndStaysThroughALoss)
//   - Who does not get a lock is told who has it, from every place in the queue, how old that news is, and if it is this
//     client itself. (TestNotAcquiredErrorSaysHowOldItIs, TestNotAcquiredErrorNamesOneself,
//     TestNotAcquiredErrorFitsIntoALine)
//   - What others write into their nodes is no error. (TestForeignDataIsNoIdentity)
//   - A participant is called by what WithID has set, if that fits into a line. (both: TestParticipantsAreCalledByTheirNames)
//   - LeaseFromContext leads to the innermost lease that a context is under.
//     (TestLeaseOfAContextIsTheInnermost, TestLeaseOfDoIsInItsContext)
//   - Without a Tracer nothing is allocated for it. (TestNoTracerNoAllocation)
//   - A Tracer, or a log handler, that blocks holds up neither a release nor Close for more than a second.
//     (TestTracerThatBlocksHoldsUpAReleaseForASecondAtMost, TestTracerThatBlocksDoesNotOutlastTheContextOfARelease,
//     TestTracerThatBlocksALatchHoldsUpCloseForASecondAtMost, TestTracerThatBlocksHoldsUpASelectorForASecondAtMost,
//     TestLogHandlerThatBlocksHoldsUpNoReleaseOfALostLease)
//   - When Close or Release has returned, a Tracer that does not block was told of the end of every hold, and every loss is
//     logged. (TestCloseHasToldTheEndOfEveryHold, TestReleaseOnAnEndedContextHasToldTheTracer)
//   - A loss is logged with the context of the work. (TestLossIsLoggedWithTheContextOfTheWork)
//   - A lease that is dropped without a release is reported once, and no other is. (TestDroppedLeaseIsReportedOnce,
//     TestDroppedLeaseThatReenteredIsReported, TestDroppedLeaseOfSeveralLocksIsReported,
//     TestNoLeaseIsReportedWithoutReason)
//   - Little is kept of what others have written, and what is shown can be printed.
//     (TestParticipantsKeepLittleOfWhatOthersHaveWritten, TestTracerGetsNamesOfForeignNodesThatCanBePrinted,
//     TestTraceOfOthersIsLegibleAndSmall)
//
// When the connection is interrupted and the session survives:
//   - A holder goes on holding, and a waiter keeps its place. (both: TestWaiterKeepsItsPlaceThroughACut,
//     TestServerRestartLosesNeitherHolderNorWaiter, TestHandOverDuringAnInterruption)
//   - Under state.StandardPolicy the lease ends at once instead, with framework.ErrSuspended.
//     (both: TestStandardPolicyEndsTheLeaseAtTheInterruption)
//   - A release during the interruption does not wait, and is no error. It frees the lock when the connection is back. The
//     same goes for the end of Do, of a leader's work, and of a leadership that is resigned. A release that waits for an
//     answer ends with the session at the latest. (TestReleaseInAnOutage, TestReleaseWaitsNoLongerThanTheSession,
//     TestDoReturnsAtOnceWhenTheWorkHasSucceededInAnOutage, TestResignInAnOutage; both: TestReleaseDuringAnOutage)
//   - A tracer is told why a deletion was left to the client. (TestTracerLearnsWhyADeletionWasLeft)
//   - Lost requests and replies leave one node for each contender. (TestLostRequestsAndReplies)
//   - A server that is in trouble, or has no capacity left, is waited for like one that is away.
//     (TestAcquireOutlastsAThrottlingServer, TestReleaseOutlastsTheServersTrouble)
//
// When the session is lost:
//   - The contexts of all its leases end before anything else is done: before anybody is told, before anything is logged,
//     and before nodes are cleaned up. (TestContextsOfALostSessionEndBeforeAnybodyIsTold)
//   - The lease's context ends, with framework.ErrSessionLost as its cause, before the server admits anybody else.
//     (both: TestLeaseEndsWithItsSession, TestIsolatedHolderStopsBeforeTheNextIsAdmitted)
//   - A waiter queues again in the next session, at the end, and never wins with a node of the old one.
//     (both: TestWaiterGoesOnInTheNextSession; TestWaiterDoesNotWinWithANodeOfItsOldSession)
//   - Nobody re-enters a lock that was lost; who tries is told of the loss. (both: TestNoReentryAfterLoss)
//   - A release of the lost lease says so, and does not wait. (TestReleaseOfALostLeaseDoesNotWait)
//
// When a context is cancelled:
//   - An acquire returns at that moment, wherever it is, and leaves no node, watch or goroutine behind.
//     (TestCancelAtEveryAwaitPoint, TestGrantThatComesWithTheCancellation; both: TestDeadlineNamesTheHolderAndOurPositionAndLeavesNothing,
//     TestWaiterThatLeavesDoesNotHoldUpTheQueue)
//   - That holds during an outage, too. (TestDeadlineIsHonouredDuringAnOutage)
//   - The node that it has given up is not in the way of the caller's next acquire, or try.
//     (TestTryAcquireIsNotRefusedByTheNodeThatItsCallerHasGivenUp, TestTryAcquireOfAFreeMutexAfterAnAcquireThatGaveUp)
//   - A release frees the lock all the same, and that is no error. (TestReleaseOnAnEndedContextIsNoError; both:
//     TestReleaseOnAnEndedContextStillFreesTheLock)
//   - A release has ended the lease's context when the server hears of it.
//     (TestReleaseEndsTheContextBeforeItTellsTheServer)
//
// When a process crashes, or is cut off:
//   - Its lock is free when its session has timed out. (both: TestCrashedHolderFreesTheLock)
//
// When somebody deletes a node:
//   - A holder's lease ends with ErrNodeDeleted: when the holder hears of it, or, if it has held the lock for less than
//     a second, when it looks after its node for the first time. The next in line may have been admitted by then.
//     (both: TestHoldersNodeDeletedByAnOperator; TestHolderNoticesTheDeletionWhateverHappened)
//   - A waiter queues again. (both: TestWaitersNodeDeletedByAnOperator; TestWaitersOfEveryKindQueueAgain)
//
// When the client is closed:
//   - Leases end with framework.ErrClosed, waits return it, and the nodes go. (both: TestCloseEndsHoldersAndWaiters;
//     TestClosedClientEndsThoseWhoWaitInTheProcess, TestClosedClientFreesItsLeases)
//
// # What is not promised
//
// A lease's context ends in time if this process runs, and if the server's answers mean what they seem to mean. It
// cannot end in a process that is stopped: by a debugger, a suspended machine, a long pause for garbage. Nor does it
// end in time for a client of a server that is cut off from the rest of its ensemble: such a server goes on answering
// pings for some time, while the others let the session expire. A follower may die right after an answer, before it has
// told its leader of the client. Nor can it end before a node is deleted by somebody who
// has the right to, or before its session is ended by somebody who has taken it over. In all these cases the next
// holder may be admitted while the old one still acts. Only what the lock guards can then tell them apart, by the
// [Lease.FencingToken]: it must remember the largest token it has seen, and refuse smaller ones, as package fence does;
// for a read/write lock, see [ReadLock]. If it is in ZooKeeper itself, there is a simpler way; see [Lease.Checks]. For
// servers that are cut off or die, there is framework.WithStrictContact.
//
// All contenders must be allowed to read each other's nodes. Whoever finds one right ahead that it may not read gets
// zk.ErrNoAuth, because servers do not tell of the end of such a node (CVE-2024-23944), and to wait would be for ever.
// (both: TestNodesThatMayNotBeRead)
//
// By default, everybody who reaches a server has that right: to delete a lock's
// nodes, to revoke a lock, and to create what is in its way. Credentials and
// framework.WithACLProvider change that.
//
// Tokens grow as long as the servers keep their data: an ensemble that is wiped begins to count anew, and a resource that
// remembers larger tokens must be told.
//
// What ends in time is the context, not the work: work that does not stop when it ends goes on. A LeaderSelector waits for
// it before it lets others lead, but only as long as its session lives; locks and a LeaderLatch do not wait.
//
// # For those who come from Java
//
// Java's locks belong to a thread, and Go has no such thing. What takes its place is the context:
//
//   - An acquire under the context of a lease re-enters: under [Lease.Context], [Lease.Under], or the context that Do and
//     leaders give to their work. The lease counts: the last release frees the lock.
//   - An acquire without it is another contender, also in the goroutine that holds the lock: it waits for itself, and its
//     [NotAcquiredError] says so.
//   - Whoever gets the context is inside. Three goroutines under one Do hold the lock together, and the lock does not
//     exclude them from each other; a sync.Mutex does.
//   - Any goroutine may release a lease.
//   - There is no isAcquiredInThisProcess: the lease's context is the answer.
//
// Objects are cheap: make one for each request, or keep it.
//
// # Sharing a lock with Java
//
// Paths, node names and modes are those of Apache Curator's recipes, so that Java and Go processes may contend for the
// same lock. (TestNodeLayoutIsCurators; with real Java Curator: the tests of package testing/interop)
package recipes
