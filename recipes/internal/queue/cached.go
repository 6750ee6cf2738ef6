package queue

import (
	"context"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/claim"
)

// A lock that is cached stays with this process when it is released: its claim
// is idle, with the turn that the next goroutine gets. A watch on the server's
// queue tells of others. No idle lock has a goroutine: its timer and its watches
// call giveUpIdle, and the session calls Free.

// cachedNode is what the node of a cached lock depends on. Objects whose nodes
// would not be the same have cached locks of their own.
type cachedNode struct {
	client    framework.Extension // the view, to which paths are relative
	data      string
	exactData bool
	anonymous bool
	revocable bool
	readers   bool // some share the lock
}

func cachedNodeOf(cfg *Config) cachedNode {
	return cachedNode{
		client: framework.Extend(cfg.Client), data: string(cfg.Data), exactData: cfg.ExactData,
		anonymous: cfg.Anonymous, revocable: cfg.Revocable, readers: cfg.Readers != "",
	}
}

// mayKeep reports whether the lock may stay in the process when its holder
// releases it. Others must not wait for it. A watch that was set before tells
// of them, and otherwise a look at the queue. The watch also fires for those
// that have gone again: they have found the lock held.
func (t *turn) mayKeep(ctx context.Context, from *claim.Claim) bool {
	if t.n > t.of.cfg.CachedUses || t.contended || !t.of.mayStay() || !from.IsConnected() || !t.queue.mayPark(t) {
		return false
	}
	if t.others.Load() == nil {
		under, done := from.DuringRelease(ctx)
		defer done()
		t.heed(t.of.alone(under, from))
	}
	return t.others.Load() != nil && !t.othersCame()
}

// mayStay reports whether a lock may be cached when its holder was of this queue.
// Of a lock that some share, they alone are kept.
func (q *Queue) mayStay() bool { return q.cfg.Readers == "" || q.isShared() }

// alone watches the server's queue for those that want the lock alone, or for all
// others if nobody shares it. The watch is nil if there are some, or no answer.
func (q *Queue) alone(ctx context.Context, c *claim.Claim) *framework.Watch {
	kinds := q.cfg.Kinds
	if q.isShared() {
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return kind == q.cfg.Readers })
	}
	return q.loop.Alone(ctx, c.Nodes()[0], kinds...)
}

// otherContenders is a watch that tells of others in the queue.
type otherContenders struct {
	watch  *framework.Watch
	ignore func() bool // an idle lock is not given up any more when it fires
}

// heed has an idle lock given up when the watch on the queue fires. It reports false
// if the watch is nil.
func (t *turn) heed(others *framework.Watch) bool {
	if others == nil {
		return false
	}
	t.amongIdle.Store(idleTurns.of(t.queue.key.client))
	t.others.Store(&otherContenders{others, others.AfterFunc(t.giveUpIdle)})
	return true
}

// othersCame reports whether somebody else may have queued since the look.
func (t *turn) othersCame() bool {
	select {
	case <-t.others.Load().watch.Done():
		return true
	default:
		return false
	}
}

// keep passes the lock on to a goroutine that waits, or else makes it idle. It
// reports false if it can do neither: the lock is lost, or asked for, or another
// reader or a writer has come. The release goes on then, and tells its caller what
// becomes of the node.
func (t *turn) keep(from *claim.Claim) bool {
	next := from.Successor()
	if next == nil {
		return false
	}
	t.goesTo(next)
	switch w, evicted, ok := t.queue.park(t, t.of.cfg.CachedIdle); {
	case !ok:
		next.Drop()
		return false
	case w != nil:
		t.n++
		w.get(t)
	case evicted != nil:
		evicted.giveUpIdle()
	}
	return true
}

// park makes the lock idle, unless a goroutine waits here, which is to get it. It
// also returns the turn of another lock that must not stay idle, if there are too
// many. It reports false if the lock must not stay by now. Whatever happens from
// then on finds the lock idle.
func (q *localQueue) park(t *turn, idle time.Duration) (w *localWaiter, evicted *turn, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.othersCame() || !q.mayParkLocked(t) {
		return nil, nil, false
	}
	if t.shared == nil {
		if w = q.takeFirstLocked(); w != nil {
			return w, nil, true
		}
	}
	q.idle = t
	t.endsAfterLocked(idle)
	return nil, t.amongIdle.Load().add(t), true
}

// mayPark reports whether park could make the lock idle by now, for all that this
// client knows without a look at the server's queue.
func (q *localQueue) mayPark(t *turn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mayParkLocked(t)
}

func (q *localQueue) mayParkLocked(t *turn) bool {
	if t.freed || t.claim.IsRequested() {
		return false
	}
	return t.shared == nil || q.idle == nil && q.joint == nil && !q.wantedAloneLocked()
}

// endsAfterLocked has an idle lock given up after a time. If an acquire takes it
// just when that is over, its next time may end early.
func (t *turn) endsAfterLocked(idle time.Duration) {
	if t.timer == nil {
		t.timer = time.AfterFunc(idle, t.giveUpIdle)
	} else {
		t.timer.Reset(idle)
	}
}

// Asked gives an idle lock up for somebody who asks for it.
func (t *turn) Asked() { t.giveUpIdle() }

// takeIdleLocked returns the turn of the lock if it is idle, or nil. The caller
// has to take it over. A turn that is being given up stays where it is until it
// has freed its place: whoever comes waits for that, and is not refused because
// of a lock that nobody has. Who wants the lock alone has a turn of readers given
// up.
func (q *localQueue) takeIdleLocked(shared bool) *localWaiter {
	t := q.idle
	switch {
	case t == nil:
		return nil
	case t.ending:
		return &localWaiter{idle: t}
	case t.shared != nil && !shared:
		q.stopIdleLocked(t)
		return &localWaiter{idle: t}
	}
	q.idle = nil
	t.endIdleLocked()
	if t.shared != nil {
		q.coming++
		return &localWaiter{idle: t, takes: true}
	}
	return &t.asIdle.waiter
}

func (t *turn) endIdleLocked() {
	t.amongIdle.Load().remove(t)
	t.timer.Stop()
}

// stopIdle reports whether a turn was idle. Nobody gets it any more.
func (q *localQueue) stopIdle(t *turn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stopIdleLocked(t)
}

func (q *localQueue) stopIdleLocked(t *turn) bool {
	if q.idle != t || t.ending {
		return false
	}
	t.ending = true
	t.endIdleLocked()
	return true
}

// disown notes that a turn has no place any more, so that it must not become idle.
// It reports whether the turn was idle until now.
func (q *localQueue) disown(t *turn) (wasIdle bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.freed = true
	if q.joint != nil && q.joint.turn == t {
		q.joint = nil
	}
	return q.stopIdleLocked(t)
}

// hasIdle reports whether the lock is idle: an acquire gets it. There may be no
// queue.
func (q *localQueue) hasIdle() bool {
	if q == nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.idle != nil
}

// giveUpIdle gives an idle lock up. It does nothing if somebody has the lock by
// now, or gives it up.
func (t *turn) giveUpIdle() {
	if t.queue.stopIdle(t) {
		t.retire()
	}
}

// retire gives up the claim of a turn that is idle or was, and frees its place. It
// returns when that is done, whoever does it.
func (t *turn) retire() { t.retired.Do(t.claim.Retire) }

func (t *turn) isEnding() bool {
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	return t.ending
}

// takeOver gives a lock that was idle to an acquire. It returns nil if the lock
// must not be used any more, or the caller has gone, and the lock was given up.
func (t *turn) takeOver(ctx context.Context, by *Queue) *claim.Claim {
	taken := false
	defer func() {
		if !taken { // the user's suspend clock may have panicked
			t.retire()
		}
	}()
	if t.isEnding() || t.othersCame() || ctx.Err() != nil || !t.claim.IsTrusted() {
		return nil
	}
	if t.shared != nil {
		c := t.queue.resume(t, by)
		taken = c != nil
		return c
	}
	taken = true
	t.of, t.n = by, t.n+1
	t.queue.noteNext(t)
	return t.claim
}
