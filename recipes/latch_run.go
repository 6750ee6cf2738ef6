package recipes

import (
	"context"
	"errors"
	"path"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// run is the latch's only goroutine: it queues and leads in turn, until the client or the latch is closed.
func (l *LeaderLatch) run(client, stopped context.Context) {
	ctx, cancel := context.WithCancel(stopped) // so that it ends at once, and no node is made behind Close
	defer cancel()
	defer context.AfterFunc(client, cancel)()
	var kept *framework.Created
	for {
		if ctx.Err() != nil && kept == nil {
			l.finish(ctx.Err(), client.Err() != nil)
			return
		}
		lease, err := traced(ctx, l.lock.describe(true), func(ctx context.Context, a attempt) (*hold, error) {
			return l.queue(ctx, a, kept)
		})
		switch {
		case err == nil:
			t := newTerm(lease)
			l.begin(t)
			t.attend(lease.ctx, stopped.Done(), l.lock.cfg.leader.grace) // the client's end is the lease's
			kept = l.stepDown(ctx, t)
		case l.outlasts(ctx, err):
			kept = nil
		default:
			l.finish(err, client.Err() != nil)
			return
		}
	}
}

// queue waits for the leadership, with the node of the one before if that was kept. What tells the tracer of its operations
// is not for those under the leadership, so that the lease must not have its context.
func (l *LeaderLatch) queue(ctx context.Context, a attempt, kept *framework.Created) (*hold, error) {
	ctx, _ = unblocked(ctx, l.lock.loop.Client)
	inQueue := l.lock.inQueue(a)
	for {
		var node framework.Created
		var refusal *lockloop.Refusal
		if kept != nil {
			node, refusal = inQueue.loop.Resume(ctx, *kept)
		} else {
			node, refusal = inQueue.loop.Acquire(ctx)
		}
		if refusal != nil {
			return nil, refusal.Err
		}
		if h := holdOf(l.lock.loop.Client, l.lock.key, false, node); h != nil {
			return h, nil
		}
		kept = &node // there was an interruption between the grant and now
	}
}

func (l *LeaderLatch) begin(t *term) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.term = t
	l.seen, l.trouble = lockloop.Refusal{}, nil // those who were ahead are not any more
	l.tellLocked(LeadershipChange{Lease: t.lease})
}

// tellLocked tells readers of Changes, but not while the latch is being closed, unless that is asked for. A leadership may
// begin even then: Close and the grant cross.
func (l *LeaderLatch) tellLocked(change LeadershipChange) {
	if l.closing == nil || l.notify {
		l.last = l.last.Append(change)
	}
}

// stepDown ends a leadership, and returns its node if that was only interrupted.
func (l *LeaderLatch) stepDown(ctx context.Context, t *term) (kept *framework.Created) {
	reason := context.Cause(t.lease.ctx)
	switch {
	case reason == nil, errors.Is(reason, ErrReleased) && l.isClosing():
		err := t.hold.dissolve(l.leaving(ctx))
		l.over(t, err)
	case errors.Is(reason, framework.ErrSuspended) && t.hold.keep():
		l.over(t, nil)
		return &t.hold.nodes[0]
	default:
		l.over(t, nil)
		if err := t.hold.dissolve(l.leaving(ctx)); framework.IsRefusal(err) {
			l.lock.loop.Client.Logger().Warn("leader's node stays, and is in the way of all candidates",
				semconv.LockPath, l.lock.fullPath(), semconv.LockNode, path.Base(t.lease.Path()), semconv.Cause, err)
		}
	}
	return nil
}

func (l *LeaderLatch) isClosing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing != nil
}

// leaving is the context under which nodes are deleted: while the latch is being closed, that of Close, which waits for it.
func (l *LeaderLatch) leaving(ctx context.Context) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing != nil {
		return l.closing
	}
	return ctx
}

// leave deletes the node of a candidate that gives up.
func (l *LeaderLatch) leave(ctx context.Context, node string) {
	c := l.lock.loop.Client
	ctx, wait := unblocked(l.leaving(ctx), c)
	defer wait()
	err := c.Delete(ctx, node, framework.AnyVersion, framework.Guaranteed())
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing != nil {
		l.leftover = err
	}
}

// over notes the end of a leadership, and what has become of its node if the latch is closed.
func (l *LeaderLatch) over(t *term, closed error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.term = nil
	l.leftover = closed
	l.tellLocked(LeadershipChange{t.lease, context.Cause(t.lease.ctx)})
}

// finish ends the candidacy, with the reason that Await returns.
func (l *LeaderLatch) finish(err error, clientClosed bool) {
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
