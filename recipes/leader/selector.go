package leader

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Selector is Curator's LeaderSelector: it runs a function while it leads. Of all
// selectors with one path, across every client of the ensemble, one leads at a time. A
// Selector keeps its node until the function has returned, as long as the session lives; a
// Latch does not wait for its work. A Selector is safe for concurrent use.
//
//	selector := leader.NewSelector(client, "/reports/leader", leader.WithID("worker-1"))
//	err := selector.Run(ctx, func(ctx context.Context) error {
//		lease, _ := locks.LeaseFromContext(ctx)
//		return lead(ctx, lease.FencingToken()) // until ctx ends
//	})
//
// The function may release its lease; the leadership then ends when the function returns.
//
// Selector creates the same nodes as Java Curator's LeaderSelector, so Go and Java
// processes may elect a leader together. An InterProcessMutex also creates the same
// nodes: a mutex with the same path excludes the leader, and an acquire under the
// function's context re-enters the leadership.
type Selector struct {
	election
	running atomic.Bool
}

// mutexKind is the name of the nodes of an InterProcessMutex.
const mutexKind = "lock-"

// NewSelector returns a selector, without a request. Run returns the error of an invalid
// argument.
func NewSelector(c *framework.Client, path string, opts ...Option) *Selector {
	s := &Selector{}
	s.workHolds = true
	s.init(seat.Config{
		Client: c, Path: path, Kind: mutexKind, Op: "run", Recipe: locktrace.RecipeLeaderSelector,
	}, opts)
	return s
}

// Run queues, calls work when the selector leads, and steps down when work has returned or
// panicked. Run returns the error of work. If the leadership was lost while work ran, the
// error also matches the reason of the loss, even if work did not notice it; test for both
// with errors.Is.
//
// The context of work ends with ctx and with the leadership, whose end is its cause; see
// Lease.Context. Work should then return. Until it does:
//
//   - After ten seconds, the client's log and hooks report the overrun.
//   - This selector does not queue again.
//   - The node keeps other candidates from leading while the session lives. If the
//     session is lost, another candidate may lead while work continues, and only the
//     fencing token tells the two apart.
//
// If ctx ends before the selector leads, Run does not call work. The error matches
// ctx.Err(). If the selector has seen other candidates ahead, the error is a
// *locks.NotAcquiredError that names the leader. Run retries through outages, lost
// sessions and failures of servers; if the last such error still keeps the selector out
// of the queue, the error also matches it. Run returns every other error of the server,
// such as zk.ErrNoAuth. If Run is already running, or is called under the context of the
// selector's own leadership, the error matches ErrRunning.
//
// With WithRequeue, Run queues again after a leadership until the option's function
// returns false or ctx ends. Run then returns the result of the last leadership, or the
// error of the wait.
func (s *Selector) Run(ctx context.Context, work func(ctx context.Context) error) error {
	if work == nil {
		return s.queue.OpError(seat.IsNil("work"))
	}
	if err := s.queue.Ready(ctx); err != nil {
		return s.queue.OpError(err)
	}
	if c := seat.FromContext(ctx, s.queue.Key()); c.HasShares() {
		if c.Context().Err() != nil {
			return s.queue.OpError(context.Cause(c.Context()))
		}
		return s.queue.OpError(ErrRunning)
	}
	if !s.running.CompareAndSwap(false, true) {
		return s.queue.OpError(ErrRunning)
	}
	defer s.running.Store(false)
	return s.run(ctx, work, func(outcome error) bool { return s.standsAgain(ctx, outcome) })
}

// requeuePause keeps work that fails at once from being called thousands of times a
// second.
const requeuePause = time.Second

// standsAgain reports whether to queue again after a leadership, and pauses after an
// error. If ctx ends during the pause, the wait for the next leadership returns the error.
func (s *Selector) standsAgain(ctx context.Context, outcome error) bool {
	overdue := seat.AwaitDeadline(ctx) // work may notice the deadline before ctx ends
	if s.cfg.requeue == nil || overdue || ctx.Err() != nil || !s.cfg.requeue(outcome) {
		return false
	}
	if outcome != nil {
		_ = follow.Pause(ctx, s.queue.Client(), &pauses.Growing{First: requeuePause})
	}
	return true
}

// Resign ends the context of the current leadership with locks.ErrRevoked. Resign waits
// until work has returned and the node is deleted, or ctx ends. In an outage, Resign
// returns an error when ctx or the connection timeout is over, and the client deletes the
// node in the background; see "How a call ends a node" in the index of the recipes. Called
// with the leadership's own context, Resign does not wait. The error matches ErrNotLeader
// if the selector does not lead. Resign does not affect a later leadership of a requeued
// selector (CURATOR-518).
func (s *Selector) Resign(ctx context.Context) error {
	const op = "resign"
	now := s.current()
	if now == nil {
		return s.queue.ErrorOf(op, ErrNotLeader)
	}
	now.hold.Lose(locks.ErrRevoked)
	return s.queue.ErrorOf(op, s.await(ctx, now))
}
