package leader

import (
	"context"
	"iter"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/broadcast"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Latch is Curator's LeaderLatch, a standing candidacy: of all latches with
// one path, across every client of the ensemble, one leads at a time, and the
// next in line takes over when it stops. From NewLatch to Shutdown a latch is
// always leading or in the queue; it begins again by itself what is lost. A
// process may have any number of them. It is safe for concurrent use.
//
//	latch, err := leader.NewLatch(client, "/leader", leader.WithID("worker-1"))
//	if err != nil {
//		return err
//	}
//	defer latch.Shutdown(context.WithoutCancel(ctx)) // waits until the node is gone
//	err = latch.Lead(ctx, func(ctx context.Context) error {
//		lease, _ := locks.LeaseFromContext(ctx)
//		return lead(ctx, lease.FencingToken()) // until ctx ends
//	})
//	if ctx.Err() != nil {
//		return nil // the service was told to stop, and the work has finished
//	}
//	return err
//
// Lead says in which ways a leadership ends, and what becomes of the work then.
// If the service is stopped by the end of ctx, the work finishes, and the next
// leads. Lead returns ctx's error then, also if the work has returned nil.
//
// Leadership is a Lease, whose context ends when the leadership does.
// WaitLeadership, Leadership and Changes are for callers that lead in their own
// way. They have to watch Lease.Revoked, too, and to release the lease then:
// else a HandOver takes all of its time. The latch gives its node up when the
// lease ends, without waiting for the work: a Selector does wait. Only after a
// loss or an interruption, it leaves the work the time to stop. The lease need
// not be released. To release it is to resign: the next in line leads, and the
// latch queues again behind the others. After a loss or an interruption, it is
// to say that the work has stopped.
//
// A leader that somebody asks to step down, by locks.Revoke, does so at once,
// or within the time of WithGrace, and queues again: at once the first time, and
// after pauses of up to five seconds if that comes time and again. So does one whose
// node somebody deletes. A candidate that is asked while it waits steps down as soon
// as it leads.
//
// When the connection is interrupted, a leader goes on until its session cannot
// be trusted any more. Under state.StandardPolicy it stops at once, and leads
// again, with the same node, when the connection is back and the session alive,
// unless it was asked to step down. A candidate keeps its place meanwhile. When
// the session is lost, the latch queues again in the next one.
//
// A leader that was lost, with its session or by an interruption, has the
// safety margin to stop; see framework.WithSafetyMargin. Nobody leads until it
// has stopped, or the margin is over: neither another, for the node stays, nor
// this latch, whether it leads again with the node or stands in line behind it.
// The leader has stopped when Lead's work returns, the lease is released, or
// the latch is shut down. The servers may delete the node of a lost session
// when the margin is over.
//
// The nodes are the same as Java Curator's LeaderLatch makes: Go and Java
// processes may elect a leader together. A Selector needs another path: the two
// do not see each other.
type Latch struct {
	queue    candidates
	cfg      config
	life     follow.Life     // over when the latch neither leads nor queues any more
	recovery follow.Recovery // run's; it knows why we are not in the queue, if we are not
	stopping sync.WaitGroup  // run's: leaders that have lost, and have time to stop

	mu      sync.Mutex      // protects the following fields
	leading bool            // Lead runs
	closing context.Context // the first Shutdown's; nil before
	now     *leadership     // the one under way, or nil
	last    *broadcast.Node[Change]
	seen    lockloop.NotAdmitted // how things stood when we last looked at the queue
	left    []*deletion          // of nodes that may still be there
}

// Change is the beginning or the end of a leadership.
type Change struct {
	Lease *locks.Lease
	Ended error // nil at the beginning; at the end, why the lease's context has ended
}

const latchKind = "latch-"

// What errors call a wait, and the end of a candidacy, which was no call.
const (
	waitLeadership = "wait leadership"
	endOfLatch     = "leader latch"
)

// NewLatch stands for leader from now on, until Shutdown. It does not wait, not
// even for a connection. A client, a path or an option that cannot be used is
// its error, and framework.ErrClosed if the client is closed.
func NewLatch(c *framework.Client, path string, opts ...LatchOption) (*Latch, error) {
	l := newLatch(c, path, opts)
	if err := l.start(); err != nil {
		return nil, l.queue.ErrorOf("new latch", err)
	}
	return l, nil
}

func newLatch(c *framework.Client, path string, opts []LatchOption) *Latch {
	cfg := latchConfig(opts)
	l := &Latch{
		queue: newCandidates(queue.Config{
			Client: c, Path: path, Kind: latchKind, Op: waitLeadership,
			Order:       lockloop.Order{Blocks: lockloop.Exclusive, EntersAfter: lockloop.Exclusive, WatchSelf: true},
			Recipe:      locktrace.RecipeLeaderLatch,
			NotAcquired: notAcquired,
			Options:     cfg.Options,
		}),
		cfg:  cfg,
		last: broadcast.New(Change{}),
	}
	l.recovery = l.newRecovery()
	// Without a reason: hooks are told that a candidate's context was canceled.
	l.life = follow.Life{Client: c, Run: l.run, Finish: l.finish, GaveUp: l.gaveUp}
	return l
}

func (l *Latch) start() error {
	if err := l.queue.Ready(context.Background()); err != nil {
		return err
	}
	return l.life.Start()
}

// Shutdown ends the candidacy at once, and does not wait for the work of Lead: it
// ends the context of a leadership, with locks.ErrReleased, and then deletes the
// node. Call HandOver before it to let the work finish first; the example of
// HandOver shows that. After Lead has returned, there is no work to wait for.
//
// Shutdown returns nil when a server has said that the node is gone. When it
// returns earlier, and with which error, is the same for all recipes: see "How a
// call ends a node" in the index of the recipes. A server in trouble may return
// other errors. If the server refuses the deletion, that is the error of every
// Shutdown. The client deletes a node in the background whose creation is under
// way, and Shutdown does not wait for that. Changes tells nothing more, except with
// WithCloseNotification. Closing the client ends its latches, too.
//
// Shutdown says that the work is over, even if its leadership was lost just
// before: the node goes without the rest of the safety margin.
func (l *Latch) Shutdown(ctx context.Context) error {
	if err := l.queue.Usable(); err != nil {
		return l.queue.ErrorOf("shutdown", err)
	}
	ending := l.queue.removal.Ending(ctx, framework.Extend(l.queue.Client()).PresentSession())
	defer ending.Done()
	first := l.beginToClose(ending.Context())
	if !l.life.WaitGone(ctx) {
		return l.queue.ErrorOf("shutdown", ending.Err(nil, reason.OfContext(ctx)))
	}
	return l.queue.ErrorOf("shutdown", l.leftBehind(ending, first))
}

// beginToClose reports whether this is the first Shutdown. The node is deleted
// under its context.
func (l *Latch) beginToClose(ctx context.Context) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing != nil {
		return false
	}
	l.closing = ctx
	if l.now != nil {
		l.now.claim.Stop()
	}
	l.life.Stop()
	return true
}

// WaitLeadership waits for the leadership, and returns its lease. All callers
// that wait get the same lease.
//
// If ctx ends first, or has ended, the error matches ctx.Err() and, if others
// were seen to be ahead, is a *locks.NotAcquiredError that names the leader.
// The candidacy goes on. If it is in trouble, the error also matches the cause:
// the last error of a server, or of an attempt to connect. When the candidacy
// is over, the error has the reason of Err's.
func (l *Latch) WaitLeadership(ctx context.Context) (lease *locks.Lease, err error) {
	if err := l.queue.Usable(); err != nil {
		return nil, l.queue.ErrorOf(waitLeadership, err)
	}
	err = l.life.Wait(ctx, func() bool {
		lease = l.Leadership()
		return lease != nil && ctx.Err() == nil
	})
	if err != nil {
		return nil, named(waitLeadership, err)
	}
	return lease, nil
}

// Done is closed when the candidacy is over: the latch was shut down, or its
// client was closed, or the server has refused it.
func (l *Latch) Done() <-chan struct{} { return l.life.Over().Done() }

// Err returns why the candidacy is over, or nil if it is not. The reasons are:
//
//   - ErrClosed: the latch was shut down;
//   - framework.ErrClosed: the client was closed;
//   - an error of the server that waiting does not cure, such as zk.ErrNoAuth,
//     or zk.ErrAuthFailed if the servers refuse the client's credentials;
//   - a function of the user's that has ended the latch's goroutine, as
//     runtime.Goexit does, such as an ACL provider.
//
// Outages, losses of the session and servers in trouble do not end it.
func (l *Latch) Err() error {
	if err := l.queue.Usable(); err != nil {
		return l.queue.ErrorOf(endOfLatch, err)
	}
	return l.life.Err()
}

// Leadership returns the lease of the leadership that is under way, or nil. It
// does not contact the server. The answer may be old when it arrives: the
// lease's context knows.
func (l *Latch) Leadership() *locks.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life.Err() != nil || l.now == nil || l.now.lease.Context().Err() != nil {
		return nil
	}
	return l.now.lease
}

// Changes returns the beginning of the leadership that is under way, if there
// is one, and the beginnings and ends of this latch's leaderships that follow
// this call, each of them once and in order, until ctx ends or the candidacy is
// over. That is the last element, with an empty Change and the error that Err
// returns. A slow reader delays nobody and misses nothing. It only hears later:
// at a beginning, the lease may be over. The latch keeps in memory what a
// reader has not read yet, so a reader should leave the loop when it stops
// reading.
func (l *Latch) Changes(ctx context.Context) iter.Seq2[Change, error] {
	now, log := l.present()
	return func(yield func(Change, error) bool) {
		for change := range log.All(ctx.Done(), l.Done(), now...) {
			if ctx.Err() != nil || !yield(change, nil) {
				return
			}
		}
		if err := l.Err(); err != nil && ctx.Err() == nil {
			yield(Change{}, err)
		}
	}
}

// present returns how things stand, as a reader of Changes is told, and the log
// of what follows.
func (l *Latch) present() (now []Change, log *broadcast.Node[Change]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.last == nil: // not made by NewLatch
		return nil, broadcast.New(Change{})
	case l.now != nil && l.life.Err() == nil && (l.closing == nil || l.cfg.notify): // its end is told, too
		return []Change{{Lease: l.now.lease}}, l.last
	default:
		return nil, l.last
	}
}

// Resign gives the leadership up at once, as a release of its lease does, and does
// not wait for the work of Lead: HandOver does. The next in line leads. Resign
// returns nil when a server has said that the node is gone; see "How a call ends a
// node" in the index of the recipes. Called with the leadership's own context, it
// does not wait for that. It is ErrNotLeader if there is no leadership to give up:
// also while the connection is interrupted under state.StandardPolicy.
func (l *Latch) Resign(ctx context.Context) error {
	l.mu.Lock()
	now := l.now
	l.mu.Unlock()
	if now == nil || l.Leadership() != now.lease {
		return l.queue.ErrorOf("resign", ErrNotLeader)
	}
	return l.queue.ErrorOf("resign", now.release(ctx, &l.queue))
}

// HandOver passes the leadership on to the next in line, in an orderly way. It
// asks the work to finish, by Lease.Revoked, and to release the lease; Lead
// does both. When ctx ends, the leadership ends with locks.ErrRevoked.
//
// HandOver returns when the leadership is given up, or lost, and its node is
// gone, or with ctx's error if it took that. Called with the leadership's own
// context, it asks and does not wait. It is an error in these cases:
//
//   - Nobody else stands: ErrNoSuccessor. The leader goes on. A candidate that
//     has died stands until its session has timed out.
//   - This latch does not lead: ErrNotLeader. That is also so if the connection
//     was interrupted, under state.StandardPolicy, before the leader was asked.
//     It may lead again with the same node then.
//   - The node may stay: the server refuses to delete it, or one of the other
//     errors that "How a call ends a node" in the index of the recipes lists.
func (l *Latch) HandOver(ctx context.Context) error {
	l.mu.Lock()
	now := l.now
	l.mu.Unlock()
	return l.queue.handOver(ctx, now)
}

// Leader returns the candidate that leads, or is about to. If nobody stands,
// the error is ErrNoLeader.
func (l *Latch) Leader(ctx context.Context) (locks.Participant, error) { return l.queue.leader(ctx) }

// Participants returns the candidates in the order of the queue, the leader
// first.
func (l *Latch) Participants(ctx context.Context) ([]locks.Participant, error) {
	return l.queue.participants(ctx)
}
