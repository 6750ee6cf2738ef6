package leader

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/recipes/internal/queue"
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
	queue candidates
	cfg   config

	mu      sync.Mutex // protects the following fields
	running bool
	now     *leadership // the one under way, or nil
}

// mutexKind is the name of the nodes of an InterProcessMutex.
const mutexKind = "lock-"

// NewSelector returns a selector. It does not contact the server: what cannot
// be used is an error of Run.
func NewSelector(c *framework.Client, path string, opts ...SelectorOption) *Selector {
	cfg := selectorConfig(opts)
	return &Selector{
		queue: newCandidates(queue.Config{
			Client: c, Path: path, Kind: mutexKind, Op: "run",
			Order:       lockloop.Order{Blocks: lockloop.Exclusive, EntersAfter: lockloop.Exclusive, WatchSelf: true},
			Recipe:      locktrace.RecipeLeaderSelector,
			NotAcquired: notAcquired,
			Options:     cfg.Options,
		}),
		cfg: cfg,
	}
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
//   - That is reported; see WithOverrunReport.
//   - This selector does not stand again.
//   - Its node keeps others from leading, if the session lives. If the session
//     is lost, others may lead while the work goes on, and only the fencing
//     token tells them apart.
//
// If ctx ends before there is a leadership, work is not called, and the error
// matches ctx.Err(). Run waits through outages and losses of the session, and
// the error then also matches the last one that Run has outlasted, unless it
// has waited in the queue since. Run returns any other error of the server,
// such as zk.ErrNoAuth. To call Run while it runs, or under the leadership that
// it asks for, is ErrRunning.
//
// With WithRequeue, Run stands again after a leadership, until the option says
// no more, or ctx ends. It returns the outcome of the last leadership, or the
// error of the wait if ctx ends while it waits.
func (s *Selector) Run(ctx context.Context, work func(ctx context.Context) error) error {
	if work == nil {
		return s.queue.ErrorOf("run", queue.IsNil("work"))
	}
	if err := s.start(ctx); err != nil {
		return s.queue.ErrorOf("run", err)
	}
	defer s.stop()
	again := s.cfg.requeue
	for {
		lease, err := queue.Traced(ctx, s.queue.Describe(true), s.queue.Win)
		if err != nil {
			return err
		}
		err = s.lead(ctx, lease, work)
		overdue := claim.AwaitDeadline(ctx) // the work may have heard of it first
		if again == nil || overdue || ctx.Err() != nil || !again(err) {
			return err
		}
		if err != nil {
			_ = follow.Pause(ctx, s.queue.Client(), &pauses.Growing{First: requeuePause}) // the wait says why, if ctx ends
		}
	}
}

// requeuePause keeps work that fails at once from leading thousands of times a
// second.
const requeuePause = time.Second

func (s *Selector) start(ctx context.Context) error {
	if err := s.queue.Ready(ctx); err != nil {
		return err
	}
	if c := claim.FromContext(ctx, s.queue.Key()); c.HasShares() {
		if c.Context().Err() != nil {
			return context.Cause(c.Context())
		}
		return ErrRunning
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		return ErrRunning
	}
	s.running = true
	return nil
}

func (s *Selector) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
}

// lead is one leadership. The selector holds the node by a share of its own,
// until the work has returned. The work has another share, so that it can end
// its leadership, but not let others lead while it runs.
func (s *Selector) lead(ctx context.Context, own *claim.Lease, work func(context.Context) error) (err error) {
	now := s.queue.newLeadership(own)
	defer func() { err = withLoss(err, s.queue.ErrorOf("run", now.end(ctx))) }() // also if work panics
	if joined, _ := now.claim.Join(); !joined {                                  // lost between the grant and now
		return nil
	}
	now.lease = (*locks.Lease)(now.claim.LeaseOf(own.Context()))
	under, done := now.lease.WithContext(ctx)
	defer done()
	returned := make(chan struct{})
	var overseer sync.WaitGroup
	overseer.Go(func() { s.oversee(under, now, returned) })
	s.set(now)
	defer func() {
		close(returned)
		overseer.Wait()
		s.set(nil)
	}()
	if under.Err() != nil { // cancelled between the grant and now (CURATOR-54)
		return reason.OfContext(under)
	}
	return work(under)
}

// withLoss returns the work's own error, if it is the only one.
func withLoss(work, loss error) error {
	if loss == nil {
		return work
	}
	return errors.Join(work, loss)
}

func (s *Selector) set(now *leadership) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

func (s *Selector) current() *leadership {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// oversee looks after a leadership until the work has returned.
func (s *Selector) oversee(under context.Context, now *leadership, returned <-chan struct{}) {
	now.attend(under, returned, s.cfg.grace)
	ended := time.Now()
	late := time.NewTimer(s.cfg.overrun)
	defer late.Stop()
	select {
	case <-late.C:
	case <-returned:
		return
	}
	events, node, cause := s.queue.Events(), now.node(), event.Cause(context.Cause(under))
	events.Emit(eventOverrun, nil, node, cause)
	over := now.claim.Trace().Overrun()
	<-returned
	over()
	events.Emit(eventOverrunOver, nil, node, cause, slog.Float64(semconv.LockOverrun, time.Since(ended).Seconds()))
}

// Resign ends the context of the leadership under way, with locks.ErrRevoked. It
// waits as long as ctx allows until the work has returned, and then until the node
// is gone: see "How a call ends a node" in the index of the recipes. Called by the
// work with its own context, it does not wait. It is ErrNotLeader if there is no
// leadership. It does not touch the next leadership, for which a requeue may stand
// meanwhile (CURATOR-518).
func (s *Selector) Resign(ctx context.Context) error {
	now := s.current()
	if now == nil {
		return s.queue.ErrorOf("resign", ErrNotLeader)
	}
	now.claim.Lose(locks.ErrRevoked)
	return s.queue.ErrorOf("resign", now.await(ctx, &s.queue))
}

// HandOver passes the leadership on to the next in line, in an orderly way. It
// asks the work to finish, by Lease.Revoked. When ctx ends, the work's context
// ends with locks.ErrRevoked. HandOver returns when the leadership is given up,
// or lost, and the work has returned, or with ctx's error if it took that.
// Called with the work's own context, it asks and does not wait.
//
// If nobody else stands, the leader goes on, and the error is ErrNoSuccessor. A
// candidate that has died stands until its session has timed out. If this selector
// does not lead, the error is ErrNotLeader. The other errors are those that "How a
// call ends a node" in the index of the recipes lists.
func (s *Selector) HandOver(ctx context.Context) error { return s.queue.handOver(ctx, s.current()) }

// Leadership returns the lease of the leadership that is under way, or nil. It
// is nil, too, if the leadership has ended and its work goes on. It does not
// contact the server. The answer may be old when it arrives: the lease's
// context knows.
func (s *Selector) Leadership() *locks.Lease {
	if now := s.current(); now != nil && now.lease.Context().Err() == nil {
		return now.lease
	}
	return nil
}

// Leader returns the candidate that leads, or is about to. If nobody stands,
// the error is ErrNoLeader.
func (s *Selector) Leader(ctx context.Context) (locks.Participant, error) { return s.queue.leader(ctx) }

// Participants returns the candidates in the order of the queue, the leader
// first.
func (s *Selector) Participants(ctx context.Context) ([]locks.Participant, error) {
	return s.queue.participants(ctx)
}
