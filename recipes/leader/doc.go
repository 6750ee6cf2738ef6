// Package leader elects a leader among processes that share a ZooKeeper
// ensemble. The leadership is a locks.Lease: a context that ends when it does,
// and a fencing token.
//
//	selector := leader.NewSelector(client, "/reports/leader", leader.WithID("worker-1"))
//	err := selector.Run(ctx, func(ctx context.Context) error {
//		lease, _ := locks.LeaseFromContext(ctx)
//		return report(ctx, lease.FencingToken()) // until ctx ends
//	})
//
// # Which one
//
//   - [Latch], Curator's LeaderLatch, stands for leader from NewLatch to
//     Shutdown. When a leadership ends, the next candidate leads at once, and
//     the latch stands again by itself. Lead runs work whenever it leads.
//   - [Selector], Curator's LeaderSelector, runs a function while it leads,
//     and keeps its place until that has returned. With WithRequeue it stands
//     again.
//   - [Now] returns who leads, without standing. [Observe] also reports each change.
//
// A process needs one of them for an election. It may have more, but they do not
// queue in the process, as mutexes do: each has a node and its own requests, and
// the n candidates of a crowd list n names when they come.
//
// Latch and Selector do not see each other's candidates: all processes of one
// election use the same kind. An [Option] is for both kinds, except for
// WithRequeue. A path that cannot be used is an error of NewLatch and Observe, and
// of every call of a Selector.
// The error matches zk.ErrInvalidPath. For any other value that cannot be used,
// it is a *framework.ConfigError and matches zk.ErrBadArguments.
//
// # How a leadership ends
//
//   - The ctx of Run or Lead ends, as at SIGTERM with signal.NotifyContext: the
//     work's context ends, the work finishes, then the next one leads. Run
//     returns what the work does, or ctx's error if it was waiting. Lead
//     returns ctx's error in both cases, which also matches what the work
//     returns.
//   - The work returns, or the process calls Resign or HandOver, or a latch's
//     Shutdown.
//   - A client asks the leader to step down, by locks.Revoke. It does so at
//     once, or within the time of WithGrace.
//   - The session is lost: the context ends with framework.ErrSessionLost, by
//     the safety margin before the server can delete the node and let the next
//     one lead. The recipes do not delete it earlier, unless the work is over.
//   - The connection is suspended, under state.StandardPolicy. A latch leads
//     again with the same node if the session lives, and the work has stopped
//     or has had the safety margin for that.
//   - Another client deletes the leader's node. The leader watches it, and stands
//     again.
//
// [Latch.Lead] has a table of these ways, and of what each does to the work, to
// the node, and to the candidacy. A candidate keeps its place through
// interruptions, and queues again in the next session after a loss. It survives
// outages and servers in trouble, and ends when a server refuses its requests.
//
// # Limits
//
// The context ends in time, not the work. If work goes on after that, a Latch
// has passed its node on already, or does so when the safety margin is over; a
// Selector has not, as long as its session lives. A process that is stopped
// learns of its loss too late. In both cases only the fencing token tells the
// old leader from the new one: see package fence.
//
// Java's LeaderLatch and LeaderSelector may stand in the same election. Each
// node says who its candidate is, in an identity or in the text of WithID.
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package leader
