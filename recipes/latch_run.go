package recipes

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// run is the latch's only goroutine: it queues and leads in turn, until the client or the latch is closed.
func (l *LeaderLatch) run(client, stopped context.Context) {
	ctx, cancel := context.WithCancel(client)
	defer cancel()
	defer context.AfterFunc(stopped, cancel)()
	var kept *framework.Created
	for {
		h, refusal := l.queue(ctx, kept)
		if refusal != nil {
			l.finish(refusal.Err, client.Err() != nil)
			return
		}
		t := newTerm(ctx, h)
		l.begin(t)
		t.attend(t.lease.ctx, stopped.Done(), l.lock.cfg.leader.grace) // the client's end is the lease's
		kept = l.stepDown(t)
	}
}

// queue waits for the leadership, with the node of the one before if that was kept.
func (l *LeaderLatch) queue(ctx context.Context, kept *framework.Created) (*hold, *lockloop.Refusal) {
	loop := &l.lock.loop
	for {
		var node framework.Created
		var refusal *lockloop.Refusal
		if kept != nil {
			node, refusal = loop.Resume(ctx, *kept)
		} else {
			node, refusal = loop.Acquire(ctx)
		}
		if refusal != nil {
			return nil, refusal
		}
		if h := holdOf(loop.Client, l.lock.key, false, node); h != nil {
			return h, nil
		}
		kept = &node // there was an interruption between the grant and now
	}
}

func (l *LeaderLatch) begin(t *term) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.term = t
	l.seen = lockloop.Refusal{} // nobody is ahead any more
	l.last = l.last.Append(LeadershipChange{Lease: t.lease})
}

// stepDown ends a leadership, and returns its node if that was only interrupted.
func (l *LeaderLatch) stepDown(t *term) (kept *framework.Created) {
	defer close(t.over)
	reason := context.Cause(t.lease.ctx)
	switch {
	case reason == nil: // the latch is closed
		ctx, notify := l.closed()
		t.lease.Release(ctx)
		l.over(t, notify)
	case errors.Is(reason, framework.ErrSuspended) && t.hold.keep():
		l.over(t, true)
		return &t.hold.nodes[0]
	default:
		l.over(t, true)
		t.lease.Release(ended) // if the leader has not done that; nobody waits for the node to go
	}
	return nil
}

func (l *LeaderLatch) closed() (ctx context.Context, notify bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing, l.notify
}

func (l *LeaderLatch) over(t *term, tell bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.term = nil
	if tell {
		l.last = l.last.Append(LeadershipChange{t.lease, context.Cause(t.lease.ctx)})
	}
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
