package leader

import (
	"context"
	"errors"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locks"
)

// Lead calls work whenever this latch leads, until work returns without being asked to,
// ctx ends, or the candidacy ends. The context of work ends with the lease and with ctx;
// locks.LeaseFromContext returns the lease. When its context ends, work should return:
// Lead waits for that, and calls work again in the next leadership.
//
// The table shows how a leadership can end, with which cause the context of work ends,
// and when the node is deleted, so that the next candidate can lead. In the cases of the
// first part, Lead then waits for the next leadership.
//
//	what happens               work's context ends with  the node is deleted
//	-------------------------  ------------------------  ----------------------
//	HandOver                   ErrRevoked, at once or    when work returns, and
//	                           within WithGrace          at HandOver's deadline
//	Revoke                     ErrRevoked, at once or    at that moment
//	                           within WithGrace
//	Resign, or work releases   ErrReleased               at once
//	its lease
//	the session is lost        framework.ErrSessionLost  when work returns, and
//	                                                     when the safety margin
//	                                                     is over
//	an interruption, under     framework.ErrSuspended    stays: if the session
//	state.StandardPolicy                                 lives, the latch leads
//	                                                     again then
//	another client deletes     ErrNodeDeleted            already
//	the node
//
//	work returns: Lead         nothing                   when work returns
//	returns work's error
//	ctx ends: Lead returns     ctx's cause               when work returns
//	ctx's error
//	Shutdown: Lead returns     ErrReleased               at once
//	ErrClosed
//	the client is closed:      framework.ErrClosed       with the session
//	Lead returns
//	framework.ErrClosed
//	work panics: Lead panics   nothing                   at that moment
//
// The lease's context never ends later than the node is deleted. Where the deletion does
// not wait for work, the next candidate may lead while work continues. A Selector waits
// for work as long as its session lives.
//
// After a loss or an interruption, work that stops within framework.WithSafetyMargin
// never overlaps with the work of the next leader, whether that is another latch or this
// one. When the margin is over, the servers may end the lost session and delete its node.
//
// If ctx ends, the error also matches the error of work. Otherwise Lead ignores the error
// of work if work returns after its context has ended, or after it was asked to stop. Lead
// also returns if the server refuses the candidacy (see Err), or refuses to delete the
// leader's node.
//
// The latch is a candidate from NewLatch to Shutdown, not only during Lead: after Lead has
// returned, the latch queues behind the other candidates. If Lead is already running, the
// error matches ErrRunning.
func (l *Latch) Lead(ctx context.Context, work func(ctx context.Context) error) error {
	if work == nil {
		return l.queue.OpError(seat.IsNil("work"))
	}
	if !l.working.CompareAndSwap(false, true) {
		return l.queue.OpError(ErrRunning)
	}
	defer l.working.Store(false)
	for {
		lease, err := l.WaitLeadership(ctx)
		if err != nil {
			return err
		}
		again, err := l.workUnder(ctx, lease, work)
		if !again {
			return err
		}
	}
}

// workUnder runs work in one leadership, and reports whether to wait for the next
// leadership.
func (l *Latch) workUnder(
	ctx context.Context, lease *locks.Lease, work func(context.Context) error,
) (again bool, err error) {
	defer func() { // runs even if work panics
		if refused := lease.Release(ctx); framework.IsRefusal(refused) {
			again, err = false, errors.Join(err, refused)
		}
	}()
	under, done := lease.WithContext(ctx)
	defer done()
	stopped, err := l.workUntilAsked(under, lease, work)
	overdue := seat.AwaitDeadline(ctx) // work may notice the deadline before ctx ends
	switch {
	case ctx.Err() != nil:
		return false, withContextError(l.queue.OpError(reason.OfContext(ctx)), err)
	case stopped && overdue: // the next leadership would end at once
		return false, withContextError(l.queue.OpError(context.DeadlineExceeded), err)
	case stopped:
		return true, nil
	default:
		return false, err
	}
}

// workUntilAsked runs work, and reports whether work was asked to stop: its context has
// ended, or the leader was asked to step down.
func (l *Latch) workUntilAsked(
	under context.Context, lease *locks.Lease, work func(context.Context) error,
) (stopped bool, err error) {
	if under.Err() != nil { // between the grant and now
		return true, nil
	}
	asked := lease.Revoked()
	under, stop := context.WithCancelCause(under)
	var overseer sync.WaitGroup
	overseer.Go(func() { afterGrace(under, asked, l.cfg.grace, func() { stop(locks.ErrRevoked) }) })
	defer overseer.Wait()
	defer stop(nil)
	err = work(under)
	select {
	case <-asked:
		return true, err
	default:
		return under.Err() != nil, err
	}
}

// withContextError joins the error of work and the error of ctx, unless the latter
// contains the former. The error of work may say more, even if it wraps the error of ctx.
//
//nolint:forbidigo // The error comes from the user, and only its text depends on the result.
func withContextError(ended, work error) error {
	if work == nil || errors.Is(ended, work) {
		return ended
	}
	return errors.Join(work, ended)
}
