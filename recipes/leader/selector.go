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

// Selector is Curator's LeaderSelector. It runs work while it leads: of all
// selectors with one path, across every client of the ensemble, one leads at a
// time. It keeps its place until the work has returned, so that a hand-over
// waits for the work to end, as long as the session lives; a Latch passes on
// at once. It is safe for concurrent use.
//
//	selector := leader.NewSelector(client, "/reports/leader", leader.WithID("worker-1"))
//	err := selector.Run(ctx, func(ctx context.Context) error {
//		lease, _ := locks.LeaseFromContext(ctx)
//		return lead(ctx, lease.FencingToken()) // until ctx ends
//	})
//
// The work may release its lease, which ends its leadership, but not before it
// has returned.
//
// The nodes are the same as Java Curator's LeaderSelector makes: Go and Java
// processes may elect a leader together. An InterProcessMutex makes the same
// nodes, too: a mutex with the same path excludes the leader, and, acquired
// under the work's context, re-enters the leadership.
type Selector struct {
	election
	running atomic.Bool
}

// mutexKind is the name of the nodes of an InterProcessMutex.
const mutexKind = "lock-"

// NewSelector returns a selector. It does not contact the server: what cannot
// be used is an error of Run.
func NewSelector(c *framework.Client, path string, opts ...Option) *Selector {
	s := &Selector{}
	s.workHolds = true
	s.init(seat.Config{
		Client: c, Path: path, Kind: mutexKind, Op: "run", Recipe: locktrace.RecipeLeaderSelector,
	}, opts)
	return s
}

// Run stands for leader, calls work when it leads, and steps down when work has
// returned, or has panicked; not before that. It returns work's error. If the
// leadership was lost while work ran, the error also matches the reason of the
// loss, even if work did not notice; test for both with errors.Is.
//
// The context of work ends with ctx, and when the leadership ends, with the
// reason as its cause: see Lease.Context. Work should return then. As long as
// it does not:
//
//   - After ten seconds, a line of the client's logger and its hooks report it.
//   - This selector does not stand again.
//   - Its node keeps others from leading, if the session lives. If the session
//     is lost, others may lead while the work goes on, and only the fencing
//     token tells them apart.
//
// If ctx ends before there is a leadership, work is not called. The error matches
// ctx.Err() and, if others were seen to be ahead, is a *locks.NotAcquiredError that
// names the leader. Run waits through outages, losses of the session and servers
// in trouble, and the error then also matches the last error that Run has retried
// through, unless it has waited in the queue since. Run returns any other error of
// the server, such as zk.ErrNoAuth. To call Run while it runs, or under the
// leadership that it asks for, is ErrRunning.
//
// With WithRequeue, Run stands again after a leadership, until the option says
// no more, or ctx ends. It returns the outcome of the last leadership, or the
// error of the wait if ctx ends while it waits.
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

// requeuePause keeps work that fails at once from leading thousands of times a
// second.
const requeuePause = time.Second

// standsAgain reports whether to stand again after a leadership, when it is time
// to. The wait for the next leadership says why, if ctx ends before.
func (s *Selector) standsAgain(ctx context.Context, outcome error) bool {
	overdue := seat.AwaitDeadline(ctx) // the work may have heard of it first
	if s.cfg.requeue == nil || overdue || ctx.Err() != nil || !s.cfg.requeue(outcome) {
		return false
	}
	if outcome != nil {
		_ = follow.Pause(ctx, s.queue.Client(), &pauses.Growing{First: requeuePause})
	}
	return true
}

// Resign ends the context of the leadership under way, with locks.ErrRevoked. It waits
// as long as ctx allows until the work has returned, and then until the node is gone.
// In an outage, Resign returns an error when ctx or the connection timeout is over,
// and the client deletes the node in the background; see "How a call ends a node" in
// the index of the recipes. Called by the work with its own context, Resign does not
// wait. It is ErrNotLeader if there is no leadership. It does not touch the next
// leadership, for which a requeue may stand meanwhile (CURATOR-518).
func (s *Selector) Resign(ctx context.Context) error {
	const op = "resign"
	now := s.current()
	if now == nil {
		return s.queue.ErrorOf(op, ErrNotLeader)
	}
	now.hold.Lose(locks.ErrRevoked)
	return s.queue.ErrorOf(op, s.await(ctx, now))
}
