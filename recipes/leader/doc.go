// Package leader elects a leader among processes that share a ZooKeeper ensemble. A
// leadership is a locks.Lease, with a context that ends with the leadership, and a
// fencing token.
//
//	selector := leader.NewSelector(client, "/reports/leader", leader.WithID("worker-1"))
//	err := selector.Run(ctx, func(ctx context.Context) error {
//		lease, _ := locks.LeaseFromContext(ctx)
//		return report(ctx, lease.FencingToken()) // until ctx ends
//	})
//
// # Which one
//
//   - [Latch], Curator's LeaderLatch, is a candidate from NewLatch to Shutdown. When a
//     leadership ends, the next candidate leads at once, and the latch queues again.
//     [Latch.Lead] runs a function whenever the latch leads.
//   - [Selector], Curator's LeaderSelector, runs a function while it leads, and keeps its
//     node until the function has returned. With [WithRequeue], the selector queues again.
//   - [Now] returns the leader, and [Observe] also reports each change. Neither becomes a
//     candidate.
//
// A process needs one candidate for an election. Several candidates of one process do not
// share a node, as mutexes do: each candidate has its own node, sends its own requests,
// and lists all candidates when it queues.
//
// Latch and Selector do not see each other's candidates, so all processes of an election
// must use the same type. Every [Option] except WithRequeue is for both types. NewLatch,
// Observe, and every call of a Selector return the error of an invalid path or option: the
// error of a path matches zk.ErrInvalidPath, and every other error is a
// *framework.ConfigError that matches zk.ErrBadArguments.
//
// # How a leadership ends
//
//   - The ctx of Run or Lead ends, for example at SIGTERM with signal.NotifyContext: the
//     work's context ends, the work finishes, and then the next candidate leads. Run
//     returns the work's result, or ctx's error if it was waiting. Lead returns ctx's
//     error in both cases, and the error also matches the work's error.
//   - The work returns, or the process calls Resign, HandOver, or Shutdown of a latch.
//   - A client asks the leader to step down by locks.Revoke. The leader steps down at
//     once, or within the time of WithGrace.
//   - The session is lost: the context ends with framework.ErrSessionLost, one safety
//     margin before the server can delete the node and another candidate can lead. The
//     recipes do not delete the node earlier, unless the work has returned.
//   - The connection is suspended, under state.StandardPolicy. A latch leads again with
//     the same node if the session lives, and if the work has stopped or has had the
//     safety margin to stop.
//   - Another client deletes the leader's node. The leader watches its node, and queues
//     again.
//
// [Latch.Lead] has a table of these cases and their effects on the work and the node. A
// candidate keeps its place in the queue through interruptions, and queues again in the
// next session after a loss. Outages and failures of servers do not end a candidate; a
// server that refuses its requests does.
//
// # Limits
//
// The work's context ends in time, but the work itself may not stop. If the work
// continues, a Latch passes its node on at once or at the end of the safety margin; a
// Selector keeps its node as long as the session lives. A paused process learns of the
// loss too late. In both cases only the fencing token tells the old leader from the new
// leader; see package fence.
//
// Java's LeaderLatch and LeaderSelector may take part in the same election. Each node
// names its candidate, by an identity or by the text of WithID.
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package leader
