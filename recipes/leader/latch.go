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

// Latch is Curator's LeaderLatch. Of all latches with one path, across every client of
// the ensemble, one leads at a time, and the next latch in the queue takes over when the
// leader stops. From NewLatch to Shutdown, a latch leads, queues, or is about to queue
// again. A Latch is safe for concurrent use.
//
//	latch, err := leader.NewLatch(client, "/leader", leader.WithID("worker-1"))
//	if err != nil {
//		return err
//	}
//	defer latch.Shutdown(context.WithoutCancel(ctx)) // waits until the node is deleted
//	err = latch.Lead(ctx, func(ctx context.Context) error {
//		lease, _ := locks.LeaseFromContext(ctx)
//		return lead(ctx, lease.FencingToken()) // until ctx ends
//	})
//	if ctx.Err() != nil {
//		return nil // the service was told to stop, and the work has finished
//	}
//	return err
//
// The documentation of Lead says how a leadership can end, and what happens to the work.
// If ctx ends, because the service stops, the work finishes, and the next candidate
// leads. Lead then returns ctx's error, even if the work has returned nil.
//
// WaitLeadership and Leadership are for callers that do not use Lead. They return a
// Lease, whose context ends with the leadership. Such a caller must also watch
// Lease.Revoked and release the lease when that is closed; otherwise every HandOver takes
// until its deadline. When the lease ends, the latch gives its node up without waiting
// for the work, unlike a Selector. Only after a loss or an interruption does the latch
// give the work time to stop.
//
// The lease need not be released. Releasing the lease resigns: the next candidate leads,
// and the latch queues again behind the others. After a loss or an interruption, a
// release tells the latch that the work has stopped.
//
// If a client asks the leader to step down by locks.Revoke, the leader steps down at
// once, or within the time of WithGrace, and queues again. If a candidate is asked while
// it waits, it steps down as soon as it leads. If the leader's node is deleted, the latch
// queues again. A latch whose leaderships keep ending pauses for up to five seconds before
// it queues again; the first time, it does not pause.
//
// If the connection is interrupted, a leader continues until its session can no longer be
// trusted. Under state.StandardPolicy, the leader stops at once; when the connection
// returns and the session is alive, it leads again with the same node, unless it was
// asked to step down. A candidate keeps its place in the queue. After the session is
// lost, the latch queues again in the next session.
//
// After a loss or an interruption, the leader has the safety margin to stop; see
// framework.WithSafetyMargin. Until it has stopped or the margin is over, there is no
// leader: the node stays, so no other candidate leads, and this latch does not queue. The
// leader has stopped when the work of Lead has returned, the lease is released, or the
// latch is shut down. When the margin is over, the servers may delete the node of a lost
// session.
//
// Latch creates the same nodes as Java Curator's LeaderLatch, so Go and Java processes may
// elect a leader together. A Selector needs another path, because a Latch and a Selector
// do not see each other.
type Latch struct {
	election
	life    follow.Life // over when the latch neither leads nor queues
	working atomic.Bool // Lead runs
}

const latchKind = "latch-"

// endOfLatch names the operation in the error that has ended a candidacy.
const endOfLatch = "leader latch"

// NewLatch returns a latch, which is a candidate until Shutdown. NewLatch does not wait,
// even if there is no connection. It returns the error of an invalid client, path or
// option, and framework.ErrClosed if the client is closed.
func NewLatch(c *framework.Client, path string, opts ...Option) (*Latch, error) {
	l := &Latch{}
	l.init(seat.Config{
		Client: c, Path: path, Kind: latchKind, Op: "lead", Recipe: locktrace.RecipeLeaderLatch,
	}, opts)
	// Without a cause: hooks receive context.Canceled as the candidate's error.
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

// run is the candidacy. Its context ends at once with the client or the latch, so that no
// node is created after Shutdown.
func (l *Latch) run(ctx context.Context) error {
	vanished := pauses.Vanished()
	return l.election.run(ctx, l.lead, func(error) bool {
		_ = vanished.Wait(ctx) // if ctx has ended, the follower returns its error
		return true
	})
}

// lead is the work of the election: the caller of WaitLeadership leads.
func (l *Latch) lead(ctx context.Context) error {
	l.life.Tell()
	<-ctx.Done()
	return nil
}

// finish ends the candidacy with an error.
func (l *Latch) finish(why error) {
	if reason.Is(why, context.Canceled) { // Shutdown has ended it
		why = ErrClosed
	}
	l.life.End(l.queue.ErrorOf(endOfLatch, why))
}

// Shutdown ends the candidacy at once, without waiting for the work of Lead: Shutdown
// ends the context of the leadership with locks.ErrReleased, and then deletes the node. To
// let the work finish first, call HandOver before Shutdown, as the example of HandOver
// does. After Lead has returned, there is no work to wait for.
//
// Shutdown returns nil when a server has confirmed the deletion of the node. In an outage,
// Shutdown returns an error when ctx or the connection timeout is over, and the client
// deletes the node in the background; see "How a call ends a node" in the index of the
// recipes. If the server refuses the deletion, every Shutdown returns that error. If the
// node is still being created, the client deletes it in the background, and Shutdown does
// not wait for that. Closing the client also ends its latches.
//
// Shutdown tells the latch that the work has stopped. So if the leadership was just lost,
// the latch deletes the node without waiting for the rest of the safety margin.
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

// WaitLeadership waits until the latch leads, and returns the lease. All waiting callers
// get the same lease.
//
// If ctx ends first, the error matches ctx.Err(), and the candidacy continues. If the latch
// has seen other candidates ahead, the error is a *locks.NotAcquiredError that names the
// leader. If an error keeps the latch out of the queue, such as the last error of a server
// or of an attempt to connect, the error also matches that error. If the candidacy has
// ended, WaitLeadership returns Err.
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

// Done is closed when the candidacy has ended: the latch was shut down, its client was
// closed, or the server has refused its requests.
func (l *Latch) Done() <-chan struct{} { return l.life.Over().Done() }

// Err returns nil until the candidacy has ended, and then:
//
//   - ErrClosed if the latch was shut down;
//   - framework.ErrClosed if the client was closed;
//   - an error of the server that no retry can cure, such as zk.ErrNoAuth, or
//     zk.ErrAuthFailed if the servers refuse the client's credentials.
//
// Outages, lost sessions and failures of servers do not end a candidacy.
func (l *Latch) Err() error {
	if err := l.queue.Usable(); err != nil {
		return l.queue.ErrorOf(endOfLatch, err)
	}
	return l.life.Err()
}

// Resign gives the leadership up at once, as a release of its lease does. Resign does not
// wait for the work of Lead; HandOver does. The next candidate leads. Resign returns nil
// when a server has confirmed the deletion of the node. In an outage, Resign returns an
// error when ctx or the connection timeout is over, and the client deletes the node in
// the background; see "How a call ends a node" in the index of the recipes. Called with
// the leadership's own context, Resign does not wait. The error matches ErrNotLeader if
// the latch does not lead, and while the connection is interrupted under
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
