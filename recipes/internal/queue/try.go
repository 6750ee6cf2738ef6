package queue

import (
	"context"
	"time"

	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// refuseFirst refuses an attempt that does not wait, without a node of its own:
// without a request if one of our client has the lock, or else by a look, if the
// last attempt was in vain, too. It returns nil if the attempt has to queue.
func (q *Queue) refuseFirst(ctx context.Context, a Attempt) error {
	var local *localQueue
	if q.local != nil {
		local = localQueues.lookUp(*q.local)
	}
	if local.hasIdle() {
		return nil
	}
	r := q.refuseBehindOurs(local)
	if r == nil {
		r = q.loop.LookFirst(ctx)
	}
	if r == nil {
		return nil
	}
	if local != nil {
		local.complete(r, true, q.isShared())
	}
	a.Recall(r)
	return q.Refuse(ctx, r)
}

// refuseBehindOurs refuses an attempt if a goroutine of our client keeps it out.
func (q *Queue) refuseBehindOurs(local *localQueue) *lockloop.NotAdmitted {
	if local == nil {
		return nil
	}
	r := local.heldByOurs(q.isShared())
	if r != nil {
		r.Full = q.cfg.QueueLimit > 0 && r.Ahead >= q.cfg.QueueLimit
	}
	return r
}

// heldByOurs returns the state of the queue if one of us has the lock, and keeps
// out those that want to share it, or those that want it alone. All of us were
// there before the caller, and so were those at the server whom one of us has
// seen behind the holder.
func (q *localQueue) heldByOurs(shared bool) *lockloop.NotAdmitted {
	q.mu.Lock()
	defer q.mu.Unlock()
	holder := q.holderLocked(shared)
	if holder == nil {
		return nil
	}
	r := holder.seen
	r.Seen, r.Ahead = time.Now(), q.used+q.waiting.len()
	if q.seen.Holder == r.Holder {
		r.Ahead = max(r.Ahead, q.seen.Ahead)
	}
	return &r
}

func (q *localQueue) holderLocked(shared bool) *holding {
	if q.alone.hasLock() {
		return q.alone
	}
	for e := q.shared.Front(); e != nil && !shared; e = e.Next() {
		if h := e.Value.(*holding); h.hasLock() {
			return h
		}
	}
	return nil
}

// hasLock reports whether one of us has the lock still. If not, its node may be
// gone, although it has not freed its place yet.
func (h *holding) hasLock() bool { return h != nil && h.by.HasNodes() }
