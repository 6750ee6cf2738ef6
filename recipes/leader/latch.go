package leader

import (
	"context"
	"sync/atomic"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Latch is Curator's LeaderLatch, a standing candidacy: of all latches with
// one path, across every client of the ensemble, one leads at a time, and the
// next in line takes over when it stops. From NewLatch to Shutdown a latch is
// always leading or in the queue, or about to queue again. A process may have any
// number of them. It is safe for concurrent use.
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
// candidate leads. Lead returns ctx's error then, also if the work has returned
// nil.
//
// Leadership is a Lease, whose context ends when the leadership does.
// WaitLeadership and Leadership are for callers that lead in their own way. Such a
// caller has to watch Lease.Revoked, too, and to release the lease then: else a
// HandOver takes all of its time. The latch gives its node up when the lease ends, without
// waiting for the work: a Selector does wait. Only after a loss or an
// interruption, it leaves the work the time to stop. The lease need not be
// released. To release it is to resign: the next in line leads, and the latch
// queues again behind the others. After a loss or an interruption, a release says
// that the work has stopped.
//
// A leader that is asked to step down by locks.Revoke does so at once, or within
// the time of WithGrace, and queues again. So does a leader whose node was deleted.
// A candidate that is asked while it waits steps down as soon as it leads. If its
// leaderships end time and again, a latch pauses before it queues again: not at
// all the first time, and then for up to five seconds.
//
// When the connection is interrupted, a leader goes on until its session cannot
// be trusted any more. Under state.StandardPolicy it stops at once, and leads
// again, with the same node, when the connection is back and the session alive,
// unless it was asked to step down. A candidate keeps its place meanwhile. When
// the session is lost, the latch queues again in the next one.
//
// A leader that was lost, with its session or by an interruption, has the
// safety margin to stop; see framework.WithSafetyMargin. There is no leader until
// it has stopped, or the margin is over: no other candidate leads, because the node
// stays, and this latch does not queue. The leader has stopped when Lead's work
// returns, the lease is released, or the latch is shut down. The servers may delete
// the node of a lost session when the margin is over.
//
// The nodes are the same as Java Curator's LeaderLatch makes: Go and Java
// processes may elect a leader together. A Selector needs another path: the two
// do not see each other.
type Latch struct {
	election
	life    follow.Life // over when the latch neither leads nor queues any more
	working atomic.Bool // Lead runs
}

const latchKind = "latch-"

// endOfLatch is what errors call the end of a candidacy, which was no call.
const endOfLatch = "leader latch"

// NewLatch stands for leader from now on, until Shutdown. It does not wait, not
// even for a connection. A client, a path or an option that cannot be used is
// its error, and framework.ErrClosed if the client is closed.
func NewLatch(c *framework.Client, path string, opts ...Option) (*Latch, error) {
	l := &Latch{}
	l.init(seat.Config{
		Client: c, Path: path, Kind: latchKind, Op: "lead", Recipe: locktrace.RecipeLeaderLatch,
	}, opts)
	// Without a reason: hooks are told that a candidate's context was canceled.
	l.life = follow.Life{Client: c, Run: l.run, Finish: l.finish, GaveUp: l.gaveUp}
	err := l.queue.Ready(context.Background())
	switch {
	case err == nil && l.cfg.requeue != nil:
		err = seat.Invalid("requeue function", "not nil", "is for a Selector: a Latch always stands again")
	case err == nil:
		err = l.life.Start()
	}
	if err != nil {
		return nil, l.queue.ErrorOf("new latch", err)
	}
	return l, nil
}

// run is the candidacy. Its context ends at once with the client or the latch, so
// that no node is made after Shutdown.
func (l *Latch) run(ctx context.Context) error {
	vanished := pauses.Vanished()
	return l.election.run(ctx, l.lead, func(error) bool {
		_ = vanished.Wait(ctx) // the follower says that ctx has ended
		return true
	})
}

// lead is the work of the election: the caller of WaitLeadership leads.
func (l *Latch) lead(ctx context.Context) error {
	l.life.Tell()
	<-ctx.Done()
	return nil
}

// finish ends the candidacy with an error that says what has ended.
func (l *Latch) finish(why error) {
	if reason.Is(why, context.Canceled) { // Shutdown has ended it
		why = ErrClosed
	}
	l.life.End(l.queue.ErrorOf(endOfLatch, why))
}

// Shutdown ends the candidacy at once, and does not wait for the work of Lead: it
// ends the context of a leadership, with locks.ErrReleased, and then deletes the
// node. Call HandOver before it to let the work finish first; the example of
// HandOver shows that. After Lead has returned, there is no work to wait for.
//
// Shutdown returns nil when a server has said that the node is gone. In an outage,
// Shutdown returns an error when ctx or the connection timeout is over, and the client
// deletes the node in the background; see "How a call ends a node" in the index of the
// recipes. If the server refuses the deletion, every Shutdown returns that error. A
// node whose creation is under way is deleted in the background, and Shutdown does not
// wait for that. Closing the client ends its latches, too.
//
// Shutdown says that the work is over, even if its leadership was lost just
// before: the node goes without the rest of the safety margin.
func (l *Latch) Shutdown(ctx context.Context) error {
	const op = "shutdown"
	if err := l.queue.Usable(); err != nil {
		return l.queue.ErrorOf(op, err)
	}
	ending := l.removal.Ending(ctx, framework.Extend(l.queue.Client()).PresentSession())
	defer ending.Done()
	l.life.Stop()
	if now := l.current(); now != nil {
		now.hold.End(locks.ErrReleased)
	}
	if !l.life.WaitGone(ctx) {
		return l.queue.ErrorOf(op, ending.Err(nil, reason.OfContext(ctx)))
	}
	return l.queue.ErrorOf(op, l.awaitDeletions(ending))
}

// WaitLeadership waits for the leadership, and returns its lease. All callers
// that wait get the same lease.
//
// If ctx ends first, or has ended, the error matches ctx.Err() and, if others
// were seen to be ahead, is a *locks.NotAcquiredError that names the leader.
// The candidacy goes on. If there is an error that keeps it from the queue, the
// error also matches that: the last error of a server, or of an attempt to
// connect. When the candidacy is over, the error is Err's.
func (l *Latch) WaitLeadership(ctx context.Context) (lease *locks.Lease, err error) {
	if err := l.queue.Usable(); err != nil {
		return nil, l.queue.OpError(err)
	}
	err = l.life.Wait(ctx, func() bool {
		lease = l.Leadership()
		return lease != nil && ctx.Err() == nil
	})
	if err != nil {
		return nil, err
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
//     or zk.ErrAuthFailed if the servers refuse the client's credentials.
//
// Outages, losses of the session and servers in trouble do not end it.
func (l *Latch) Err() error {
	if err := l.queue.Usable(); err != nil {
		return l.queue.ErrorOf(endOfLatch, err)
	}
	return l.life.Err()
}

// Resign gives the leadership up at once, as a release of its lease does, and does not
// wait for the work of Lead: HandOver does. The next in line leads. Resign returns nil
// when a server has said that the node is gone. In an outage, Resign returns an error
// when ctx or the connection timeout is over, and the client deletes the node in the
// background; see "How a call ends a node" in the index of the recipes. Called with
// the leadership's own context, Resign does not wait. It is ErrNotLeader if there is
// no leadership to give up, and while the connection is interrupted under
// state.StandardPolicy.
func (l *Latch) Resign(ctx context.Context) error {
	const op = "resign"
	now := l.current()
	if now == nil || now.lease.Context().Err() != nil {
		return l.queue.ErrorOf(op, ErrNotLeader)
	}
	if refused := now.lease.Release(ctx); framework.IsRefusal(refused) {
		return l.queue.ErrorOf(op, refused)
	}
	return l.queue.ErrorOf(op, l.await(ctx, now))
}
