// Package recipes holds coordination between processes that share a ZooKeeper ensemble.
//
// Use
//   - [InterProcessMutex] if one process at a time may do something; with [WithLocalHandOver], if many goroutines of a
//     process want it;
//   - [InterProcessReadWriteLock] if many may read, or one may write;
//   - [InterProcessSemaphore] if no more than so many at a time may do something, and
//     [InterProcessSemaphoreMutex] for a mutex that is not re-entrant;
//   - [InterProcessMultiLock] if several locks are needed together, without waiting for each other in a circle.
//
// All of them are used alike.
//
//	mutex := recipes.NewInterProcessMutex(client, "/locks/sku-42")
//	lease, err := mutex.Acquire(ctx) // waits until ctx ends
//	if err != nil {
//		return err // says who holds the lock, and how many are ahead
//	}
//	defer lease.Release(ctx) // also on a cancelled ctx
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
// # What is promised
//
// Each line names the test that holds it. "Both" tests run in virtual time on zktest, and on real ZooKeeper.
//
// Exclusion and order:
//   - No two holders have live contexts at once, whatever happens to connections and sessions, within the
//     limits below. (TestOneHolderUnderRandomFaults; both: TestOneHolderAndHandOver, TestGoroutinesOnOneMutexExcludeEachOther)
//   - Waiters are admitted in order of arrival. (both: TestWaitersAreAdmittedInOrderOfArrival)
//   - A lock is the same through every namespace of a client. (both: TestLockIsTheSameThroughEveryNamespace)
//   - Fencing tokens grow from holder to holder. (both: TestFencingTokenIsTheNodesCzxidAndGrows)
//   - Nodes that are not the recipe's have no influence. (both: TestForeignChildrenDoNotBlock)
//   - A release wakes one waiter with one event. (TestNoHerd)
//   - An acquire and release that nobody contends is three requests. (TestUncontendedCycleIsThreeRequests)
//
// When the connection is interrupted and the session survives:
//   - A holder goes on holding, and a waiter keeps its place. (both: TestWaiterKeepsItsPlaceThroughACut,
//     TestServerRestartLosesNeitherHolderNorWaiter, TestHandOverDuringAnInterruption)
//   - Under state.StandardPolicy the lease ends at once instead, with framework.ErrSuspended.
//     (both: TestStandardPolicyEndsTheLeaseAtTheInterruption)
//   - A release during the interruption frees the lock when the connection is back. (both: TestReleaseDuringAnOutage)
//   - Lost requests and replies leave one node for each contender. (TestLostRequestsAndReplies)
//   - A server that is in trouble, or has no capacity left, is waited for like one that is away.
//     (TestAcquireOutlastsAThrottlingServer, TestReleaseOutlastsTheServersTrouble)
//
// When the session is lost:
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
//   - A release frees the lock all the same. (both: TestReleaseOnAnEndedContextStillFreesTheLock)
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
//   - A waiter queues again. (both: TestWaitersNodeDeletedByAnOperator)
//
// When the client is closed:
//   - Leases end with framework.ErrClosed, waits return it, and the nodes go. (both: TestCloseEndsHoldersAndWaiters)
//
// When goroutines share an object:
//   - Only the holder and the next of them have nodes. (TestOnlyTheHolderAndTheNextOfAnObjectAreAtTheServer,
//     TestWaitingInTheProcessCostsTheServerNothing)
//   - With WithLocalHandOver they pass the lock on without a request, within its bounds, and never one that was lost or
//     is asked for by Revoke. (TestLocalHandOverCostsNoRequest, TestLocalHandOverIsBounded, TestLostLockIsNotHandedOver)
//
// When a lock is asked for:
//   - The holder hears of it, and is forced to nothing. (both: TestHolderIsAskedToGiveTheLockUp)
//   - The lease of a Revocable lock ends, with ErrRevoked. (both: TestRevocableLockEndsItsContext)
//   - Nothing but nodes of locks is touched. (TestRevokeTouchesNothingButNodesOfLocks)
//
// Read/write locks:
//   - Readers are together, writers alone, in order of arrival. (both: TestReadersShareAndWritersDoNot,
//     TestReadersAndWritersUnderLoad)
//   - A writer that becomes a reader keeps its place; a reader that wants to become a writer is refused.
//     (both: TestDowngradeKeepsItsPlace; TestUpgradeIsRefused)
//
// Semaphores:
//   - There are never more leases than the limit, and several are taken all or none. (both: TestSemaphoreIsNeverExceeded,
//     TestSeveralLeasesAreAllOrNone)
//   - A shared limit can be changed while some wait, and takes nobody's lease. (both: TestSharedLimitIsRaisedWhileSomeWait)
//
// Multi-locks:
//   - All locks are held or none. (both: TestMultiLockIsAllOrNone; TestMultiLockBeginsAgainAfterALoss)
//   - Two who want the same paths do not wait for each other. (both: TestMultiLocksDoNotDeadlock)
//
// # What is not promised
//
// A lease's context ends in time if this process runs, and if the server's answers mean what they seem to mean. It
// cannot end in a process that is stopped: by a debugger, a suspended machine, a long pause for garbage. Nor does it
// end in time for a client of a server that is cut off from the rest of its ensemble: such a server goes on answering
// pings for some time, while the others let the session expire. Nor can it end before a node is deleted by somebody who
// has the right to. In all these cases the next holder may be admitted while the old one still acts. Only what the lock
// guards can then tell them apart, by the [Lease.FencingToken]: it must remember the largest token it has seen, and refuse
// smaller ones. If it is in ZooKeeper itself, there is a simpler way; see [Lease.Path].
//
// # Sharing a lock with Java
//
// Paths, node names and modes are those of Apache Curator's recipes, so that Java and Go processes may contend for the
// same lock. (TestNodeLayoutIsCurators; with real Java Curator: the tests of package testing/interop)
package recipes
