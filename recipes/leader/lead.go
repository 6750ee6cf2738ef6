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

// Lead calls work whenever this latch leads, until work returns by itself, ctx
// ends, or the candidacy is over. Work is done under the lease, which
// LeaseFromContext finds in its context, and under ctx. It should return when
// its context ends: Lead waits for it, and calls it again with the next
// leadership. A caller of Lead needs no other way to lead.
//
// The table says how a leadership can end, why the context of work ends then,
// and when the node goes, so that the next candidate can lead. After the ends
// in the first part, Lead waits for the next leadership.
//
//	what happens               work's context ends with  the node goes
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
//	another client deletes     ErrNodeDeleted            it is gone
//	the node
//
//	work returns: Lead         nothing                   when work returns
//	returns what work does
//	ctx ends: Lead returns     ctx's cause               when work returns
//	ctx's error
//	Shutdown: Lead returns     ErrReleased               at once
//	ErrClosed
//	the client is closed:      framework.ErrClosed       with the session
//	Lead returns
//	framework.ErrClosed
//	work panics: Lead panics   nothing                   at that moment
//
// The lease's context always ends before the node goes, or with it. Where the
// node does not wait for work, the next may lead while work goes on: a Selector
// waits, as long as its session lives.
//
// After a loss or an interruption, work that stops within
// framework.WithSafetyMargin never goes on at the same time as the next leader's,
// whether that is another latch or this one. The servers may end a lost session
// when the margin is over, and the node with it.
//
// If ctx ends, the error also matches what work returned. In all other cases
// Lead ignores what work returns after its context has ended, or after it was
// asked to stop. An error of the server that ends the candidacy (see Err), or
// its refusal to delete the leader's node, ends Lead, too.
//
// Lead stands for nothing by itself: NewLatch does. Between Lead's return and
// Shutdown, the latch stands behind the other candidates. To call Lead while it
// runs is ErrRunning.
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

// workUnder is Lead's part in one leadership. It reports whether to wait for the
// next.
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
	overdue := seat.AwaitDeadline(ctx) // the work may have heard of it first
	switch {
	case ctx.Err() != nil:
		return false, withContextError(l.queue.OpError(reason.OfContext(ctx)), err)
	case stopped && overdue: // the next leadership would end as soon as it begins
		return false, withContextError(l.queue.OpError(context.DeadlineExceeded), err)
	case stopped:
		return true, nil
	default:
		return false, err
	}
}

// workUntilAsked reports whether work was told to stop: its context has ended,
// or the leader was asked to step down.
func (l *Latch) workUntilAsked(
	under context.Context, lease *locks.Lease, work func(context.Context) error,
) (stopped bool, err error) {
	if under.Err() != nil { // between the grant and now
		return true, nil
	}
	asked := lease.Revoked()
	under, stop := context.WithCancelCause(under)
	var overseer sync.WaitGroup
	overseer.Go(func() { afterGrace(asked, under.Done(), l.cfg.grace, func() { stop(locks.ErrRevoked) }) })
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

// withContextError adds what work returned to the error of ctx, unless that says
// all of it. The work's error may say more, also if it wraps the error of ctx.
//
//nolint:forbidigo // The error is the user's, and only its text is decided on.
func withContextError(ended, work error) error {
	if work == nil || errors.Is(ended, work) {
		return ended
	}
	return errors.Join(work, ended)
}
