package queue

import (
	"context"

	"github.com/gocurator/curator/recipes/internal/claim"
)

// Readers of a lock that is cached share a node. The first makes it. While one of
// them has the lock by that node, others join its turn: each has a claim of its
// own, as a member of the turn's. The last that releases the lock gives the node
// up, or makes the turn idle.
//
// Nobody joins while somebody waits who wants the lock alone. A watch on the
// server's queue tells of other clients, before the first joins. When it has fired,
// the next reader looks again: others may be readers, too. Those of this client are
// seen when they come. A reader that cannot join makes a node, which is behind
// theirs.

// joins reports whether those that share the lock share a node.
func (k localKey) joins() bool { return k.node.readers }

// arrival is how a goroutine comes to the queue.
type arrival struct {
	shared  bool // it shares the lock
	patient bool // it waits for another one to make the node that it may share
	joins   int  // how many turns it still tries to join
}

// arrival is how an attempt comes first. It may find that a turn has gone to as many
// others as may be, and then tries the next one, but no third.
func (q *Queue) arrival(a Attempt) arrival {
	return arrival{shared: q.isShared(), patient: a.Wait && q.cfg.QueueLimit == 0, joins: 2}
}

func (a arrival) mayJoin() bool { return a.shared && a.joins > 0 }

// refused notes that the goroutine could not join a turn. It may try another one, if
// no writer is the reason.
func (a *arrival) refused(again bool) {
	a.joins--
	if !again || a.joins == 0 {
		a.joins, a.patient = 0, false
	}
}

// isAwaited reports whether others that come to the queue may wait for what becomes
// of the node of one that comes so. They wait for none that passes those that wait
// here, if there are any: there may always be one more.
func (q *localQueue) isAwaited(a arrival) bool { return a.shared && a.patient && q.key.joins() }

// joint is a turn that readers may join, with the claim that it has now.
type joint struct {
	turn  *turn
	claim *claim.Claim
	looks chan struct{} // has an element while one of them looks at the server's queue

	refused bool // a look has found others, or had no answer; protected by queue.mu
}

func newJoint(t *turn) *joint { return &joint{turn: t, claim: t.claim, looks: make(chan struct{}, 1)} }

// wantedAloneLocked reports whether one of ours has, or waits for, the lock alone.
func (q *localQueue) wantedAloneLocked() bool {
	return q.free < q.key.places() || q.waitingAlone > 0
}

// keepsOutLocked reports whether others keep one out that waits here. Readers that
// it would share the lock with do not, though it waits for a node of theirs.
func (q *localQueue) keepsOutLocked(a arrival) bool {
	return !q.isAwaited(a) || q.keepsOut || q.wantedAloneLocked()
}

// openLocked lets readers join a turn whose first member has the lock now. Nobody
// joins the one before it any more, which may be as good: they had a node each.
func (q *localQueue) openLocked(t *turn) {
	if !t.freed && !q.wantedAloneLocked() {
		q.joint = newJoint(t)
		q.admitLocked()
	}
}

// refuse keeps readers from joining a turn any more, after a look.
func (q *localQueue) refuse(j *joint) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.refused = true
	if q.joint == j {
		q.joint = nil
	}
}

// comesSoonLocked reports whether a reader should wait for what becomes of
// another one's node. While one of ours wants the lock alone, nobody will join.
func (q *localQueue) comesSoonLocked(a arrival) bool {
	return a.shared && a.patient && q.coming > 0 && q.behind == 0 && !q.inVain && !q.wantedAloneLocked()
}

// settled notes that it is known what becomes of the node of one that was coming.
func (q *localQueue) settled() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.coming--
	q.admitLocked()
}

// settledInVain is settled for a node that has failed to be made. All that have
// waited for it go on at once: else, each would have its error after the one before.
func (q *localQueue) settledInVain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.coming--
	q.inVain = true
	q.admitLocked()
	q.inVain = false
}

// fellBehind notes that a reader of ours that was coming waits for others. Those
// who come after it would wait, too, and need not do so here.
func (q *localQueue) fellBehind() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.behind++
	q.coming--
	q.admitLocked()
}

// caughtUp notes that it waits for others no more.
func (q *localQueue) caughtUp() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.behind--
}

// parts notes that the last one of those who share a turn releases the lock. Those
// who come wait for what becomes of the node.
func (q *localQueue) parts(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.joint != nil && q.joint.turn == t {
		q.joint = nil
	}
	q.coming++
}

// first makes the first member of a turn that has got the lock at the server.
func (q *localQueue) first(t *turn) *claim.Claim {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := t.claim.Member()
	if !t.contended {
		q.openLocked(t)
	}
	return c
}

// resume makes the first member of a turn that was idle.
func (q *localQueue) resume(t *turn, by *Queue) *claim.Claim {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.of, t.n = by, t.n+1
	if !t.freed { // otherwise it was lost, and the queue knows
		h := t.shared.Value.(*holding)
		h.by = t.claim
		q.seen, q.keepsOut = h.seen, false
	}
	c := t.claim.Member()
	q.openLocked(t)
	return c
}

// join makes one more member, for an acquire. It returns nil if that must not be, and
// reports whether the acquire may try another turn then.
func (j *joint) join(ctx context.Context, by *Queue) (c *claim.Claim, again bool) {
	if !j.claim.IsConnected() || !j.claim.IsTrusted() || !j.isWatched(ctx, by) {
		return nil, false
	}
	return j.turn.queue.join(j, by)
}

// isWatched reports whether a watch tells of others that want the lock alone, and
// there were none when it was set. It sets that, if need be. If there are some,
// nobody may join any more; nor need anybody look then, and isWatched reports true.
func (j *joint) isWatched(ctx context.Context, by *Queue) bool {
	select {
	case j.looks <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-j.looks }()
	if t := j.turn; !t.queue.isOpen(j) || t.others.Load() != nil && !t.othersCame() {
		return true
	}
	under, done := claim.WhileConnected(ctx, j.claim.Nodes()[0].Session)
	defer done()
	watched := j.turn.heed(by.alone(under, j.claim))
	if !watched && ctx.Err() == nil {
		j.turn.queue.refuse(j)
	}
	return watched
}

// join is the end of a joint's join. Much may have happened since the watch was set.
func (q *localQueue) join(j *joint, by *Queue) (c *claim.Claim, again bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := j.turn
	switch {
	case q.joint != j: // another one is open, or may be soon
		return nil, !j.refused
	case t.n > by.cfg.CachedUses:
		q.joint = nil
		return nil, true
	case q.wantedAloneLocked() || t.othersCame() || j.claim.IsRequested() || j.claim.Context().Err() != nil:
		return nil, false
	}
	if c = j.claim.Member(); c != nil {
		t.of, t.n = by, t.n+1
	}
	return c, true
}

func (q *localQueue) isOpen(j *joint) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.joint == j
}

// come comes to the queue, as often as needed. It returns a claim if it has joined
// a turn, or has taken one over. Otherwise it returns a waiter that is in the
// queue, or nil if there is a place.
func (q *Queue) come(ctx context.Context, a *arrival) (c *claim.Claim, local *localQueue, w *localWaiter, ahead int) {
	for {
		local, w, ahead = localQueues.arrive(q.local, *a)
		switch {
		case w == nil:
			return nil, local, nil, 0
		case w.idle != nil:
			c = q.takeOver(ctx, local, w)
		case w.turn != nil:
			return nil, local, w, ahead
		default:
			c = q.join(ctx, w, a)
		}
		if c != nil {
			return c, local, nil, 0
		}
	}
}

// join tries to join the turn that came with a waiter, once.
func (q *Queue) join(ctx context.Context, w *localWaiter, a *arrival) *claim.Claim {
	c, again := w.join.join(ctx, q)
	if c == nil {
		a.refused(again)
	}
	return c
}

func (q *Queue) takeOver(ctx context.Context, local *localQueue, w *localWaiter) *claim.Claim {
	if w.takes {
		defer local.settled()
	}
	return w.idle.takeOver(ctx, q)
}
