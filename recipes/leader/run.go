package leader

import (
	"context"
	"path"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/internal/trace"
	"github.com/gocurator/curator/recipes/locks"
)

// run is the latch's only goroutine: it queues and leads in turn, until the
// client or the latch is closed. It queues under a context that ends at once
// with either, so that no node is made behind Close.
func (l *Latch) run(client, stopped context.Context) {
	ctx, cancel := context.WithCancel(stopped)
	defer cancel()
	defer context.AfterFunc(client, cancel)()
	defer l.stopping.Wait()
	var kept *keptNode
	for {
		if ctx.Err() != nil && kept == nil {
			l.finish(ctx, ctx.Err(), client.Err() != nil)
			return
		}
		lease, err := queue.Traced(ctx, l.queue.Describe(true), func(ctx context.Context, a queue.Attempt) (*claim.Claim, error) {
			return l.stand(ctx, a, kept)
		})
		switch {
		case err == nil:
			now := newLeadership(lease)
			l.begin(now)
			now.attend(lease.Context(), stopped.Done(), l.cfg.grace) // the client's end is the lease's
			kept = l.stepDown(ctx, now)
		case l.outlasts(ctx, err):
			kept = nil
		default:
			l.finish(ctx, err, client.Err() != nil)
			return
		}
	}
}

// stand waits for the leadership, with the node of the one before if that was
// kept. The context that keeps the tracer from holding up its requests is not
// for those under the leadership, so the lease must not have it.
func (l *Latch) stand(ctx context.Context, a queue.Attempt, kept *keptNode) (*claim.Claim, error) {
	ctx, _ = trace.Unblocked(ctx, l.queue.Client())
	at := l.queue.InLoop(a)
	at.OnBlocked, at.OnAbandon = l.noteQueue, l.abandon
	if kept != nil {
		at.Resume, at.OnAbandon = &kept.Created, l.abandonKept(*kept)
	}
	return l.queue.Stand(ctx, at)
}

func (l *Latch) begin(now *leadership) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = now
	l.seen, l.trouble = lockloop.NotAdmitted{}, nil // nobody is ahead any more
	l.tellLocked(Change{Lease: now.lease})
}

// tellLocked tells the readers of Changes, but not while the latch is being
// closed, unless WithCloseNotification asks for that. A leadership may begin
// even then: Close and the grant cross.
func (l *Latch) tellLocked(change Change) {
	if l.closing == nil || l.cfg.notify {
		l.last = l.last.Append(change)
	}
}

// stepDown ends a leadership, and returns its node if that was only
// interrupted.
func (l *Latch) stepDown(ctx context.Context, now *leadership) (kept *keptNode) {
	cause := context.Cause(now.lease.Context())
	switch {
	case cause == nil, reason.Is(cause, locks.ErrReleased) && l.isClosing():
		l.deleting(ctx, now.claim.Dissolve)
		l.end(now)
	case reason.Is(cause, framework.ErrSuspended) && now.claim.Keep():
		l.end(now)
		return &keptNode{now.claim.Nodes()[0], now.stopsBy()}
	case isLoss(cause):
		l.end(now)
		l.dissolveLater(ctx, now)
	default:
		l.end(now)
		if err := l.deleting(ctx, now.claim.Dissolve); framework.IsRefusal(err) {
			framework.Extend(l.queue.Client()).Logger().Warn("leader's node stays, and is in the way of all candidates",
				semconv.LockPath, l.queue.FullPath(), semconv.LockNode, path.Base(now.lease.Path()), semconv.Cause, err)
		}
	}
	return nil
}

func (l *Latch) isClosing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing != nil
}

// deletionContext is the context under which nodes are deleted: while the latch
// is being closed that of Close, which waits for the deletion.
func (l *Latch) deletionContext(ctx context.Context) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing != nil {
		return l.closing
	}
	return ctx
}

// deleting calls del to delete a node. If Close comes meanwhile, it waits for
// the node, too: del is called again under its context. Close is told the error.
func (l *Latch) deleting(ctx context.Context, del func(context.Context) error) error {
	closing := l.isClosing()
	err := del(l.deletionContext(ctx))
	if err != nil && !closing && l.isClosing() {
		err = del(l.deletionContext(ctx))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing != nil {
		l.leftover = err
	}
	return err
}

// abandon deletes the node of a candidate that gives up.
func (l *Latch) abandon(ctx context.Context, node string) {
	l.deleting(ctx, func(ctx context.Context) error {
		ctx, wait := trace.Unblocked(ctx, l.queue.Client())
		defer wait()
		return l.queue.Client().Delete(ctx, node, framework.AnyVersion, framework.Guaranteed())
	})
}

// end notes the end of a leadership.
func (l *Latch) end(now *leadership) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = nil
	l.tellLocked(Change{now.lease, context.Cause(now.lease.Context())})
}

// finish ends the candidacy, with the reason that Await returns. If ctx has
// ended, the nodes of lost leaderships are being deleted, and Close waits.
func (l *Latch) finish(ctx context.Context, err error, clientClosed bool) {
	if ctx.Err() != nil {
		l.stopping.Wait()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case clientClosed:
		err = framework.ErrClosed
	case l.closing != nil:
		err = ErrClosed
	}
	l.failure = err
	close(l.done)
}
