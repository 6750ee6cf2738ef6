package recipes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/retry"
)

// Lead calls work whenever this latch leads, until work returns by itself, ctx
// ends, or the candidacy is over. Work is done under the lease, which
// LeaseFromContext finds in its context, and under ctx. It should return when
// its context ends: Lead waits for it, and calls it again with the next
// leadership. No other way to lead is needed beside it.
//
// A leadership can end in these ways. "The next" are the other candidates, who
// lead when the node is gone.
//
//	what happens           context of work ends     the node goes          Lead
//	---------------------  -----------------------  ---------------------  ----------------------
//	work returns           no                       when work returns      returns what work does
//	ctx ends               at once, cause of ctx    when work returns      returns ctx's error
//	HandOver               at once (or WithGrace),  when work returns,     waits for the next
//	                       ErrRevoked               at HandOver's ctx      leadership
//	                                                at the latest
//	Revoke                 at once (or WithGrace),  at that moment         waits for the next
//	                       ErrRevoked                                      leadership
//	Resign, or work        at once, ErrReleased     at once                waits for the next
//	releases its lease                                                     leadership
//	the session is lost    at once,                 with the session       waits for the next
//	                       framework.ErrSessionLost                        leadership
//	an interruption, with  at once,                 no; it leads again if  waits for the next
//	state.StandardPolicy   framework.ErrSuspended   the session lives      leadership
//	somebody deletes the   at once, ErrNodeDeleted  it is gone             waits for the next
//	node                                                                   leadership
//	Close                  at once, ErrReleased     at once                returns ErrClosed
//	the client is closed   at once,                 with the session       returns
//	                       framework.ErrClosed                             framework.ErrClosed
//	work panics            -                        at that moment         panics
//
// In each of them the lease's context ends when the node is given up, or
// before. Where the node does not wait for work, the next may lead while work
// goes on: a LeaderSelector waits, as long as its session lives.
//
// If ctx ends, the error also matches what work returned. What work returns
// after its context has ended, or after it was asked to stop, does not matter
// otherwise. An error of the server that ends the candidacy (see Err), or its
// refusal to delete the leader's node, ends Lead, too.
//
// Lead stands for nothing by itself: Start comes before it, and Close after
// it. Between its return and Close, the latch stands behind the other
// candidates. To call Lead while it runs is ErrRunning.
func (l *LeaderLatch) Lead(ctx context.Context, work func(ctx context.Context) error) error {
	if work == nil {
		return l.lock.leaderError("lead", errNoWork)
	}
	if !l.setLeading(true) {
		return l.lock.leaderError("lead", ErrRunning)
	}
	defer l.setLeading(false)
	for {
		lease, err := l.Await(ctx)
		if err != nil {
			return asLead(err)
		}
		again, err := l.lead(ctx, lease, work)
		if !again {
			return err
		}
	}
}

// asLead gives an error of Await the name of the call that it answers.
func asLead(err error) error {
	var others *NotAcquiredError // may have an OpError in it
	var op *framework.OpError
	switch {
	case errors.As(err, &others):
		named := *others
		named.op = "lead"
		return &named
	case errors.As(err, &op):
		named := *op
		named.Op = "lead"
		return &named
	default:
		return err
	}
}

// setLeading reports whether that was a change.
func (l *LeaderLatch) setLeading(leading bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := l.leading != leading
	l.leading = leading
	return changed
}

// lead is one leadership. It reports whether to wait for the next.
func (l *LeaderLatch) lead(ctx context.Context, lease *Lease, work func(context.Context) error) (again bool, err error) {
	defer func() { // also if work panics
		if lease.Context().Err() != nil { // the latch sees to the node, and may lead again with it
			return
		}
		if refused := lease.Release(ctx); framework.IsRefusal(refused) {
			again, err = false, errors.Join(err, refused)
		}
	}()
	under, done := lease.Under(ctx)
	defer done()
	stopped, err := l.workUntilAsked(under, lease, work)
	switch {
	case ctx.Err() != nil:
		return false, withContextError(ctx, l.lock.leaderError("lead", retry.ContextError(ctx)), err)
	case stopped:
		return true, nil
	default:
		return false, err
	}
}

// workUntilAsked reports whether work was told to stop: its context has ended,
// or the leader was asked to step down.
func (l *LeaderLatch) workUntilAsked(under context.Context, lease *Lease, work func(context.Context) error) (stopped bool, err error) {
	under, stop := context.WithCancelCause(under)
	defer stop(nil)
	if under.Err() != nil { // between the grant and now
		return true, nil
	}
	returned := make(chan struct{})
	var overseer sync.WaitGroup
	overseer.Go(func() { stopWhenAsked(lease, l.lock.cfg.leader.grace, stop, returned) })
	defer overseer.Wait()
	defer close(returned)
	err = work(under)
	select {
	case <-lease.Revoked():
		return true, err
	default:
		return under.Err() != nil, err
	}
}

// stopWhenAsked ends the context of work when the leader is asked to step down,
// and has had its time of grace.
func stopWhenAsked(lease *Lease, grace time.Duration, stop context.CancelCauseFunc, returned <-chan struct{}) {
	select {
	case <-lease.Revoked():
	case <-returned:
		return
	}
	enough := time.NewTimer(grace)
	defer enough.Stop()
	select {
	case <-enough.C:
		stop(ErrRevoked)
	case <-returned:
	}
}

// withContextError adds what work returned to the error of ctx, unless that
// says the same.
func withContextError(ctx context.Context, ended, work error) error {
	if work == nil || errors.Is(work, ctx.Err()) || errors.Is(work, context.Cause(ctx)) {
		return ended
	}
	return errors.Join(work, ended)
}
