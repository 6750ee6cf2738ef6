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
// errors.Is finds the zk.Err values of go-zookeeper and the context's error.
//
// # Contexts
//
// Every operation returns when its context ends. A request that was sent cannot be taken back, and may still be carried
// out; a write then returns an error that matches [ErrOutcomeUnknown]. What such a request
// creates for a [Protected] node, or leaves of a [Guaranteed] delete, is cleaned up by the client itself, on no caller's
// context, until it is done or the client is closed.
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
// The limits: a process that is stopped learns nothing until it runs again, and a server that is cut off from the rest
// of its ensemble goes on answering for a while. See package recipes on fencing tokens.
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
// (TestSessionEndsBeforeTheServerDeletesItsNodesInASilentPartition, TestSlowReadersMissNothingAndDelayNobody)
//
// On cancellation: an operation returns at that moment, whatever it awaits, and leaves nothing behind.
// (TestOperationReturnsAtOnceWhenItIsCancelledWhateverItAwaits, TestGuaranteedDeleteOnACancelledContextIsDone)
//
// On Close: everything that was started has ended when it returns, within about a second.
// (TestCloseIsBoundedAndEndsEveryOperation, TestCloseMayBeCalledTwiceAndConcurrently)
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
//   - A read that follows a change never overtakes the change's event, not even after a reconnect; see
//     framework/internal/transport.
package framework
