package recipes

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/broadcast"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/retry"
)

// LeaderLatch is a standing candidacy: of all latches with one path, across every client of the ensemble, one leads at a
// time, and the next in line takes over when it stops. From Start to Close a latch is always leading or in the queue; what
// is lost is begun again by itself. A process may have any number of them. It is safe for concurrent use.
//
//	latch := recipes.NewLeaderLatch(client, "/leader", recipes.WithID("worker-1"))
//	if err := latch.Start(); err != nil {
//		return err
//	}
//	defer latch.Close(ctx)
//	return latch.Lead(ctx, func(ctx context.Context) error {
//		lease, _ := recipes.LeaseFromContext(ctx)
//		return lead(ctx, lease.FencingToken()) // until ctx ends
//	})
//
// Lead says in which ways a leadership ends, and what becomes of the work then. If the service is stopped by the end of
// ctx, the work finishes, and the next leads.
//
// Leadership is a Lease, whose context ends when the leadership does. Await, Leadership and Changes are for those who lead
// in their own way. They have to look out for Lease.Revoked, too, and to release the lease then: else a HandOver takes all
// of its time. The latch gives its node up when the lease ends, without waiting for the work: LeaderSelector does wait.
// The lease need not be released. To release it is to resign: the next in line leads, and the latch queues again behind
// the others.
//
// A leader whom somebody asks to step down, by Revoke, does so at once, or within the time of WithGrace, and queues again.
// A candidate who is asked while it waits steps down as soon as it leads.
//
// When the connection is interrupted, a leader goes on until its session cannot be trusted any more; under
// state.StandardPolicy it stops at once, and leads again, with the same node, when the connection is back and the session
// alive, unless it was asked to step down. A candidate keeps its place meanwhile. When the session is lost, the latch
// queues again in the next one.
//
// Its nodes are those of Java Curator's LeaderLatch, with which a Go process may elect a leader. A LeaderSelector needs
// another path: the two do not see each other.
type LeaderLatch struct {
	lock lock

	mu       sync.Mutex // protects the following fields
	started  bool
	leading  bool            // Lead runs
	closing  context.Context // of the Close that came first
	notify   bool
	stop     context.CancelFunc
	term     *term // the one under way, or nil
	last     *broadcast.Node[LeadershipChange]
	seen     lockloop.Refusal // how things stood when we last looked at the queue
	trouble  error            // why we are not in the queue now, or nil
	pause    time.Duration    // the last one, because of that
	failure  error            // why done is closed
	leftover error            // what kept Close from deleting the node

	done chan struct{} // closed when the latch neither leads nor queues any more
}

const latchKind = "latch-"

// NewLeaderLatch returns a latch that does not stand yet. WithID names the candidate; the default is what a lock's nodes
// say of their owner. WithGrace is the other option that is meant for it.
func NewLeaderLatch(c *framework.Client, path string, opts ...LockOption) *LeaderLatch {
	l := &LeaderLatch{
		lock: newLock(c, path, latchKind, []string{latchKind}, lockloop.Exclusive, opts, forLatches),
		last: broadcast.New(LeadershipChange{}),
		done: make(chan struct{}),
	}
	l.lock.op = "await"
	l.lock.loop.Own = true
	l.lock.loop.Note = l.note
	l.lock.loop.Leave = l.leave
	return l
}

// Start makes the latch stand for leader, until Close. It does not wait, not even for a connection. A path or an option
// that cannot be used is its error, and so is ErrStarted if it was called before, and ErrClosed behind Close.
func (l *LeaderLatch) Start() error {
	if err := l.lock.ready(context.Background()); err != nil {
		return l.lock.leaderError("start", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closing != nil:
		return l.lock.leaderError("start", ErrClosed)
	case l.failure != nil:
		return l.lock.leaderError("start", l.failure)
	case l.started:
		return l.lock.leaderError("start", ErrStarted)
	}
	var stopped context.Context
	stopped, l.stop = context.WithCancel(context.Background())
	l.started = l.lock.loop.Client.Go(func(client context.Context) { l.run(client, stopped) })
	if !l.started {
		l.failure = framework.ErrClosed
		close(l.done)
		return l.lock.leaderError("start", l.failure)
	}
	return nil
}

// Close ends the candidacy: the context of a leadership first, with ErrReleased, and then the node. It returns when that
// is done, or when ctx ends, with its error; the node goes in any case, unless the server refuses that, which is an error,
// too. Changes is told no more. Closing the client closes its latches, too.
//
// After Lead, the work has finished already, and a ctx that has ended does no
// harm: Close only does not wait then. Those who lead in their own way call
// HandOver before it, for an orderly shutdown.
func (l *LeaderLatch) Close(ctx context.Context) error { return l.close(ctx, false) }

// CloseNotify is Close, but readers of Changes are told of the end of the leadership, as of every other.
func (l *LeaderLatch) CloseNotify(ctx context.Context) error { return l.close(ctx, true) }

func (l *LeaderLatch) close(ctx context.Context, notify bool) error {
	if err := l.lock.usable(); err != nil {
		return l.lock.leaderError("close", err)
	}
	first := l.beginToClose(ctx, notify)
	select {
	case <-l.done:
	case <-ctx.Done():
	}
	select {
	case <-l.done: // also if ctx has ended
		return l.lock.leaderError("close", l.leftBehind(first))
	default:
		return l.lock.leaderError("close", retry.ContextError(ctx))
	}
}

// beginToClose reports whether this is the first Close, under whose context the node is deleted.
func (l *LeaderLatch) beginToClose(ctx context.Context, notify bool) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing != nil {
		return false
	}
	l.closing, l.notify = ctx, notify
	switch {
	case l.started:
		if l.term != nil {
			l.term.hold.end(ErrReleased)
		}
		l.stop()
	case l.failure == nil:
		l.failure = ErrClosed
		close(l.done)
	}
	return true
}

// leftBehind returns why the node may be there still: to those who have waited for its deletion, and if nobody sees to
// that in the background, to all. If the client was closed meanwhile, the end of its session sees to that.
func (l *LeaderLatch) leftBehind(first bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case errors.Is(l.leftover, framework.ErrClosed):
		return nil
	case first || framework.IsRefusal(l.leftover):
		return l.leftover
	default:
		return nil
	}
}

// Await waits for the leadership, and returns the lease of the one that is under way. All who wait get the same lease.
//
// If ctx ends first, or has ended, the error matches ctx.Err() and, if others were seen to be ahead, is a
// *NotAcquiredError that names the leader; the candidacy goes on. If that is in trouble, the error also matches and tells
// what the trouble is: the last error of the server, or that of the last attempt to connect. When the candidacy is over,
// the error is Err's.
func (l *LeaderLatch) Await(ctx context.Context) (*Lease, error) {
	for {
		lease, changed, err := l.now()
		switch {
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, l.gaveUp(ctx)
		case lease != nil:
			return lease, nil
		}
		select {
		case <-changed:
		case <-l.done:
		case <-ctx.Done():
			return nil, l.gaveUp(ctx)
		}
	}
}

// Done is closed when the candidacy is over: the latch is closed, or its client, or the server has refused it.
func (l *LeaderLatch) Done() <-chan struct{} {
	if l.done == nil { // not made by NewLeaderLatch
		return ended.Done()
	}
	return l.done
}

// Err returns why the candidacy is over: ErrClosed, framework.ErrClosed, or an error of the server that waiting does not
// cure, such as zk.ErrNoAuth; else nil. If the servers refuse the client's credentials, that is such an error, too:
// zk.ErrAuthFailed. Outages, losses of the session and servers in trouble do not end it.
func (l *LeaderLatch) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lock.leaderError("await", cmp.Or(l.lock.usable(), l.failure))
}

// Leadership returns the lease of the leadership that is under way, or nil. It does not contact the server. The answer may
// be old when it arrives: the lease's context knows.
func (l *LeaderLatch) Leadership() *Lease {
	lease, _, _ := l.now()
	return lease
}

// LeadershipChange is the beginning or the end of a leadership.
type LeadershipChange struct {
	Lease *Lease
	Ended error // nil at the beginning; at the end, why the lease's context has ended
}

// Changes returns the beginnings and ends of this latch's leaderships that follow this call, each of them once and in
// order, until ctx ends or the latch is closed. A slow reader delays nobody and misses nothing; it only hears later: at
// a beginning, the lease may be over. What it has not read yet is kept in memory, so a reader should not stop reading
// without leaving the loop.
func (l *LeaderLatch) Changes(ctx context.Context) iter.Seq[LeadershipChange] {
	l.mu.Lock()
	start := l.last
	l.mu.Unlock()
	if start == nil { // not made by NewLeaderLatch
		return func(func(LeadershipChange) bool) {}
	}
	return func(yield func(LeadershipChange) bool) {
		for change := range start.All(ctx.Done(), l.done) {
			if ctx.Err() != nil || !yield(change) {
				return
			}
		}
	}
}

// Resign gives the leadership up at once, to the next in line, as a release of its lease does. It is ErrNotLeader if there
// is none to give up: also while the connection is interrupted under state.StandardPolicy.
func (l *LeaderLatch) Resign(ctx context.Context) error {
	lease := l.Leadership()
	if lease == nil {
		return l.lock.leaderError("resign", ErrNotLeader)
	}
	return lease.Release(ctx)
}

// HandOver passes the leadership on to the next in line, in an orderly way: the work is asked to finish, by Lease.Revoked,
// and to release the lease, both of which Lead does; when ctx ends, the leadership is ended with ErrRevoked. It returns when the leadership is given
// up, or lost, and its node gone; or with ctx's error if it took that. Called with the leadership's own context, it asks
// and does not wait.
//
// If nobody else stands, the leader goes on, and the error is ErrNoSuccessor. (Who has died stands until its session has
// timed out.) If this latch does not lead, it is ErrNotLeader: also if the connection was interrupted, under
// state.StandardPolicy, before the leader was asked. It may lead again with the same node then.
func (l *LeaderLatch) HandOver(ctx context.Context) error {
	l.mu.Lock()
	t := l.term
	l.mu.Unlock()
	return l.lock.handOver(ctx, t)
}

// Leader returns the candidate that leads, or is about to. If nobody stands, the error is ErrNoLeader.
func (l *LeaderLatch) Leader(ctx context.Context) (Participant, error) { return l.lock.leader(ctx) }

// Participants returns the candidates in the order of the queue, the leader first.
func (l *LeaderLatch) Participants(ctx context.Context) ([]Participant, error) {
	return l.lock.participants(ctx)
}

// now returns the lease of the present leadership, or an error if there will be none any more, or else a channel that is
// closed at the next change.
func (l *LeaderLatch) now() (*Lease, <-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch err := cmp.Or(l.lock.usable(), l.failure); {
	case err != nil:
		return nil, nil, l.lock.leaderError("await", err)
	case !l.started:
		return nil, nil, l.lock.leaderError("await", ErrNotStarted)
	case l.term != nil && l.term.lease.ctx.Err() == nil:
		return l.term.lease, nil, nil
	default:
		return nil, l.last.Done(), nil
	}
}
