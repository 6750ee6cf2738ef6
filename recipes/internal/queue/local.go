package queue

import (
	"context"
	"path"
	"sync"
	"time"

	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// winLocally first waits in the process, until this goroutine may queue at the
// server, or another one hands the lock over.
func (q *Queue) winLocally(ctx context.Context, a Attempt) (c *claim.Claim, err error) {
	local, w, ahead := localQueues.arrive(*q.local)
	if w != nil {
		if c, err = q.waitLocally(ctx, a, local, w, ahead); err != nil {
			return nil, err
		}
		if c != nil {
			a.Trace.HandedOver()
			return c, nil
		}
	}
	entered := sync.OnceFunc(local.entered)
	defer func() {
		entered()
		if c == nil { // refused, or the user's code has panicked, such as an ACL provider
			local.leave()
		}
	}()
	at := q.InLoop(a)
	at.OnQueued, at.OnBlocked = entered, local.note
	if c, err = q.winAtServer(ctx, a, at); err != nil {
		return nil, err
	}
	local.note(held(c))
	c.Occupy(&turn{queue: local, of: q, since: time.Now(), n: 1})
	return c, nil
}

// held returns the state of the queue when a claim of ours has the lock.
func held(c *claim.Claim) lockloop.NotAdmitted {
	node := c.Nodes()[0]
	return lockloop.NotAdmitted{
		Seen: time.Now(), Ahead: 1,
		Holder: path.Base(node.Path), HolderData: c.Data(), HolderSession: node.Session.ID(),
	}
}

// waitLocally waits for a place at the server. If the lock came with the place,
// it returns that.
func (q *Queue) waitLocally(ctx context.Context, a Attempt, local *localQueue, w *localWaiter, ahead int) (*claim.Claim, error) {
	limit := q.cfg.QueueLimit
	if full := limit > 0 && ahead >= limit; !a.Wait || full {
		local.abandon(ctx, w)
		return nil, q.refuseLocally(ctx, ahead, full)
	}
	told := false
	defer func() {
		if !told { // the user's tracer has panicked
			local.abandon(ctx, w)
		}
	}()
	a.Trace.QueuedLocally(ahead, func() flight.Standing { return local.standingOf(w) })
	told = true
	select {
	case <-w.turn:
		return w.handed, nil
	case <-ctx.Done():
		ahead := local.abandon(ctx, w)
		r := local.standing()
		r.Ahead, r.Err = max(r.Ahead, ahead), reason.OfContext(ctx)
		return nil, q.Refuse(ctx, &r)
	}
}

// refuseLocally returns the error of an acquire that does not wait.
func (q *Queue) refuseLocally(ctx context.Context, ahead int, full bool) error {
	r, err := q.loop.Peek(ctx)
	if err != nil {
		return q.OpError(err)
	}
	r.Ahead, r.Full = max(r.Ahead, ahead), full
	return q.Refuse(ctx, &r)
}

// turn is the place of the goroutine that has the lock, among the goroutines of
// its client. It implements claim.Place.
type turn struct {
	queue *localQueue
	of    *Queue    // the one that acquired the lock
	since time.Time // when a goroutine of ours got the lock at the server
	n     int       // turns since then, including this one
	left  sync.Once
}

// Free frees the place at the server.
func (t *turn) Free() { t.left.Do(t.queue.leave) }

// PassOn hands the lock to the first goroutine that waits here.
func (t *turn) PassOn(from *claim.Claim) bool {
	if t.n > t.of.cfg.HandOvers || time.Since(t.since) >= t.of.cfg.HandOver {
		return false
	}
	w := t.queue.takeFirst()
	if w == nil {
		return false
	}
	next := from.Successor()
	if next == nil {
		t.left.Do(func() { t.queue.yield(w) }) // w gets at least the place
		return false
	}
	next.Occupy(&turn{queue: t.queue, of: t.of, since: t.since, n: t.n + 1})
	w.handed = next
	close(w.turn)
	return true
}
