package recipes

import (
	"context"
	"path"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/retry"
)

// LeaderSelector runs work while it leads: of all selectors with one path, across every client of the ensemble, one leads
// at a time. It keeps its place until the work has returned, so that a hand-over waits for the work to end, as long as the
// session lives; a LeaderLatch passes on at once. It is safe for concurrent use.
//
//	selector := recipes.NewLeaderSelector(client, "/reports/leader", recipes.WithID("worker-1"))
//	err := selector.Run(ctx, func(ctx context.Context) error {
//		lease, _ := recipes.LeaseFromContext(ctx)
//		return lead(ctx, lease.FencingToken()) // until ctx ends
//	})
//
// The work may release its lease, which ends its leadership, but not before it has returned.
//
// Its nodes are those of Java Curator's LeaderSelector, with which a Go process may elect a leader. They are those of an
// InterProcessMutex, too: a mutex with the same path excludes the leader, and, acquired under the work's context, re-enters
// the leadership.
type LeaderSelector struct {
	lock lock

	mu      sync.Mutex // protects the following fields
	running bool
	term    *term // the one under way, or nil
}

// NewLeaderSelector returns a selector. It does not contact the server: a path or an option that cannot be used is an error
// of Run. WithID names the candidate; WithRequeue, WithGrace and WithOverrunReport are the other options that are meant for
// it.
func NewLeaderSelector(c *framework.Client, path string, opts ...LockOption) *LeaderSelector {
	s := &LeaderSelector{lock: newLock(c, path, mutexKind, []string{mutexKind}, lockloop.Exclusive, opts, forSelectors)}
	s.lock.op = "run"
	s.lock.loop.Own = true
	return s
}

// Run stands for leader, calls work when it leads, and steps down when work has returned; not before that, and also if it
// panics. It returns work's error. If the leadership was lost while work ran, the error also matches the reason of the
// loss, even if work did not notice; test for both with errors.Is.
//
// The context of work ends with ctx, and when the leadership ends, with the reason as its cause: see Lease.Context. Work
// should return then. As long as it does not, that is reported (see WithOverrunReport), this selector does not stand again,
// and its node, if the session lives, keeps others from leading. If the session is lost, nothing can: others may lead while
// such work goes on, and only the fencing token tells them apart.
//
// If ctx ends before there is a leadership, work is not called, and the error matches ctx.Err(). Run waits through outages
// and losses of the session; any other error of the server, such as zk.ErrNoAuth, is returned. To call Run while it runs,
// or under the leadership that it asks for, is ErrRunning.
//
// With WithRequeue, Run stands again after a term, until the option says no more, or ctx ends: it returns what the last
// term has come to, or the error of the wait if ctx ends while it waits.
func (s *LeaderSelector) Run(ctx context.Context, work func(ctx context.Context) error) error {
	if work == nil {
		return s.lock.leaderError("run", errNoWork)
	}
	if err := s.start(ctx); err != nil {
		return s.lock.leaderError("run", err)
	}
	defer s.stop()
	again := s.lock.cfg.leader.requeue
	for {
		lease, err := traced(ctx, s.lock.describe(true), s.lock.win)
		if err != nil {
			return err
		}
		err = s.lead(ctx, lease, work)
		if again == nil || ctx.Err() != nil || !again(err) {
			return err
		}
		if err != nil {
			select {
			case <-time.After(requeuePause):
			case <-ctx.Done():
			}
		}
	}
}

// requeuePause keeps work that fails at once from leading thousands of times a second.
const requeuePause = time.Second

func (s *LeaderSelector) start(ctx context.Context) error {
	if err := s.lock.ready(ctx); err != nil {
		return err
	}
	if h := heldUnder(ctx, s.lock.key); h.claimed() {
		if h.ctx.Err() != nil {
			return context.Cause(h.ctx)
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

func (s *LeaderSelector) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
}

// lead is one term. It holds the node by own, until the work has returned. The work has a lease beside that, so that it
// can end its leadership, but not let others lead while it runs.
func (s *LeaderSelector) lead(ctx context.Context, own *Lease, work func(context.Context) error) (err error) {
	t := newTerm(own)
	defer func() { err = withLoss(err, s.lock.leaderError("lead", t.end(ctx))) }() // also if work panics
	if joined, _ := t.hold.join(); !joined {                                       // lost between the grant and now
		return nil
	}
	t.lease = t.hold.leaseOf(own.ctx)
	under, done := t.lease.Under(ctx)
	defer done()
	returned := make(chan struct{})
	var overseer sync.WaitGroup
	overseer.Go(func() { s.oversee(under, t, returned) })
	s.setTerm(t)
	defer func() {
		close(returned)
		overseer.Wait()
		s.setTerm(nil)
	}()
	if under.Err() != nil { // cancelled between the grant and now (CURATOR-54)
		return retry.ContextError(under)
	}
	return work(under)
}

func (s *LeaderSelector) setTerm(t *term) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term = t
}

// oversee looks after a term until the work has returned.
func (s *LeaderSelector) oversee(under context.Context, t *term, returned <-chan struct{}) {
	t.attend(under, returned, s.lock.cfg.leader.grace)
	ended := time.Now()
	late := time.NewTimer(s.lock.cfg.leader.overrun)
	defer late.Stop()
	select {
	case <-late.C:
	case <-returned:
		return
	}
	log := s.lock.loop.Client.Logger().With(
		semconv.LockPath, s.lock.fullPath(), semconv.LockNode, path.Base(t.lease.Path()), semconv.Cause, context.Cause(under))
	log.Warn("leader's work goes on after the end of its leadership")
	over := t.hold.followed().overrun()
	<-returned
	over()
	log.Info("leader's work has ended, after its leadership", semconv.LockOverrun, time.Since(ended).Seconds())
}

// Resign ends the context of the leadership under way, with ErrRevoked, and returns when the work has returned and the node
// is given up, or when ctx ends, with its error; if it is called by the work, with its context, it does not wait. It is
// ErrNotLeader if there is no leadership. What a requeue stands for afterwards is another one, which it does not touch
// (CURATOR-518).
func (s *LeaderSelector) Resign(ctx context.Context) error {
	t := s.now()
	if t == nil {
		return s.lock.leaderError("resign", ErrNotLeader)
	}
	t.hold.lose(ErrRevoked)
	return s.lock.leaderError("resign", t.await(ctx))
}

// HandOver passes the leadership on to the next in line, in an orderly way: the work is asked to finish, by Lease.Revoked;
// when ctx ends, its context is ended with ErrRevoked. It returns when the leadership is given up, or lost, and the work has
// returned; or with ctx's error if it took that. Called with the work's own context, it asks and does not wait.
//
// If nobody else stands, the leader goes on, and the error is ErrNoSuccessor. (Who has died stands until its session has
// timed out.) If this selector does not lead, it is ErrNotLeader.
func (s *LeaderSelector) HandOver(ctx context.Context) error { return s.lock.handOver(ctx, s.now()) }

// Leadership returns the lease of the leadership that is under way, or nil; that also if it has ended, and its work goes
// on. It does not contact the server. The answer may be old when it arrives: the lease's context knows.
func (s *LeaderSelector) Leadership() *Lease {
	if t := s.now(); t != nil && t.lease.ctx.Err() == nil {
		return t.lease
	}
	return nil
}

// Leader returns the candidate that leads, or is about to. If nobody stands, the error is ErrNoLeader.
func (s *LeaderSelector) Leader(ctx context.Context) (Participant, error) { return s.lock.leader(ctx) }

// Participants returns the candidates in the order of the queue, the leader first.
func (s *LeaderSelector) Participants(ctx context.Context) ([]Participant, error) {
	return s.lock.participants(ctx)
}

func (s *LeaderSelector) now() *term {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.term
}
