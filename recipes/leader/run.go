package leader

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/internal/trace"
	"github.com/gocurator/curator/recipes/locks"
)

// run is the latch's only goroutine, but for those that leave lost leaders
// their time to stop. It queues and leads in turn, until ctx ends, or an error
// ends the candidacy. The context ends at once with the client or the latch, so
// that no node is made behind Shutdown.
func (l *Latch) run(ctx context.Context) error {
	var kept *keptNode
	undone := pauses.Vanished()
	for {
		if ctx.Err() != nil && kept == nil {
			return ctx.Err()
		}
		abandon := l.abandonFor(ctx, kept)
		lease, err := queue.Traced(ctx, l.queue.Describe(true), func(ctx context.Context, a queue.Attempt) (*claim.Claim, error) {
			return l.stand(ctx, a, kept, abandon)
		})
		if err == nil {
			now := l.queue.newLeadership(lease)
			now.stopped = now.claim.Lead()
			l.begin(now)
			now.attend(lease.Context(), l.life.Stopped().Done(), l.cfg.grace) // the client's end is the lease's
			isUndone := isUndoing(now.ended()) || now.isAskedByOthers()
			kept = l.stepDown(ctx, now)
			if isUndone && kept == nil { // a kept node is in the way of others
				_ = undone.Wait(ctx) // the next attempt says that ctx has ended
			}
			continue
		}
		if err := l.outlast(ctx, err); err != nil {
			return err
		}
		kept = nil
	}
}

// isUndoing reports whether a leadership has ended in a way that may come again as
// soon as the next one begins, time and again: a script deletes its node, or the
// user's tracer ends the context of the work. A script that asks the leader to step
// down is another such way, in whatever way the leader does so.
func isUndoing(cause error) bool { return cause == nil || reason.Is(cause, locks.ErrNodeDeleted) }

// stand waits for the leadership, with the node of the one before if that was
// kept. The context that keeps the tracer from holding up its requests is not
// for those under the leadership, so the lease must not have it.
func (l *Latch) stand(
	ctx context.Context, a queue.Attempt, kept *keptNode, abandon func(context.Context, framework.Created),
) (*claim.Claim, error) {
	ctx, _ = trace.Unblocked(ctx, l.queue.Client())
	ctx = framework.Extend(l.queue.Client()).OnTrouble(ctx, l.recovery.Note)
	at := l.queue.InLoop(a)
	at.OnBlocked, at.OnAbandon = l.noteQueue, abandon
	if kept != nil {
		at.Resume = &kept.Created
	}
	return l.queue.Stand(ctx, at)
}

func (l *Latch) begin(now *leadership) {
	l.recovery.Recovered()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = now
	l.left = nil                    // a node of ours that is ahead would keep us from leading
	l.seen = lockloop.NotAdmitted{} // nobody is ahead any more
	l.tellLocked(Change{Lease: now.lease})
}

// tellLocked tells the readers of Changes, but not while the latch is being
// closed, unless WithCloseNotification asks for that. A leadership may begin
// even then: Shutdown and the grant cross.
func (l *Latch) tellLocked(change Change) {
	if l.closing == nil || l.cfg.notify {
		l.last = l.last.Append(change)
		l.life.Tell()
	}
}

// stepDown ends a leadership, and returns its node if that was only
// interrupted.
func (l *Latch) stepDown(ctx context.Context, now *leadership) (kept *keptNode) {
	cause := now.ended()
	switch {
	case cause == nil, reason.Is(cause, locks.ErrReleased) && l.isClosing():
		l.deleting(ctx, now.created(), now.dissolve)
		l.end(now)
	case reason.Is(cause, framework.ErrSuspended) && now.claim.Keep():
		return l.keep(ctx, now)
	case isLoss(cause):
		l.end(now)
		l.dissolveLater(ctx, now)
	default:
		l.end(now)
		l.dissolve(ctx, now)
	}
	return nil
}

// dissolve gives a leadership's node up, and logs if the server refuses that.
func (l *Latch) dissolve(ctx context.Context, now *leadership) {
	if err := l.deleting(ctx, now.created(), now.dissolve); framework.IsRefusal(err) {
		l.queue.Events().Emit(eventNodeStays, err, now.node(), event.Cause(err))
	}
}

func (l *Latch) isClosing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing != nil
}

// abandon deletes the node of a candidate that gives up.
func (l *Latch) abandon(ctx context.Context, node framework.Created) {
	l.deleting(ctx, node, func(ctx context.Context) error { return l.queue.delete(ctx, node) })
}

// end notes the end of a leadership.
func (l *Latch) end(now *leadership) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = nil
	l.tellLocked(Change{now.lease, context.Cause(now.lease.Context())})
}

// finish ends the candidacy, and waits for lost leaders. If the user's code has
// ended the goroutine of run, they keep their time, too.
func (l *Latch) finish(why error) {
	if reason.Is(why, context.Canceled) { // Shutdown has ended it
		why = ErrClosed
	}
	l.life.End(l.queue.ErrorOf(endOfLatch, why))
	l.stopping.Wait()
}
