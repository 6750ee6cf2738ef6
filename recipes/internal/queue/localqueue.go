package queue

import (
	"container/list"
	"context"
	"sync"

	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// localQueue is where the goroutines of a client wait that want the same lock.
// Only the holder and the next one have nodes in the server's queue. The others
// cost the server nothing. The queue has no options: each acquire uses the
// options of the object that it was called on.
//
// Those that share the lock, such as readers, each have a node, unless one that
// wants it alone was before them and still waits here. So the nodes are in the
// order of arrival. They look at the server's queue together. If the lock is
// cached, they share a node; see joint.
type localQueue struct {
	in   *queueSet // finds this queue by its key until it is over
	key  *localKey
	next *localQueue // another queue of the same lock, or nil; protected by in.mu

	mu       sync.Mutex // protects the following fields
	over     bool       // it is empty for good: later arrivals get another queue
	inVain   bool       // nobody is to wait for another one's node; for settledInVain
	free     int        // places at the server for those that want the lock alone
	used     int        // goroutines that have a node, or are about to make one
	entering entering
	waiting  line  // goroutines that have no place yet
	idle     *turn // has a place, and the lock, but no goroutine; nil if there is none

	// These are for readers that share a node.
	joint        *joint // the turn that they may join; nil if there is none
	coming       int    // readers that have a place, and perhaps a node to share soon
	behind       int    // those that wait for others at the server
	waitingAlone int    // of those that wait here, the others

	crowd *lockloop.Crowd // goroutines that share the lock; nil before the first

	seen     lockloop.NotAdmitted  // the server's queue as one of us saw it last
	keepsOut bool                  // the queue in seen keeps those out, too, that share the lock
	beyond   *lockloop.NotAdmitted // the queue that the holder is in, as one of us saw it last; may be nil
	gone     []string              // nodes of ours that had the lock, and were given up
	alone    *holding              // the one of us that got the lock alone last, or nil
	shared   list.List             // a *holding for each of us that shares the lock
	trouble  error                 // the last error that one of us at the server has outlasted, or nil

	firstGone [1]string // most queues know of no more than one
}

// entering says which goroutines with a place have no node yet. The next must
// not overtake them. Those that share the lock may overtake each other.
type entering struct {
	alone  bool
	shared int
}

// admits reports whether another goroutine may enter.
func (e *entering) admits(shared bool) bool { return !e.alone && (shared || e.shared == 0) }

func (e *entering) begin(shared bool) {
	if shared {
		e.shared++
	} else {
		e.alone = true
	}
}

func (e *entering) end(shared bool) {
	if shared {
		e.shared--
	} else {
		e.alone = false
	}
}

// localWaiter waits for a place.
type localWaiter struct {
	turn  chan struct{} // closed when the waiter has a place
	idle  *turn         // set from the beginning if the lock was idle; the others are not set then
	takes bool          // set with that if readers wait for what becomes of it
	join  *joint        // the turn to join; set from the beginning, or before turn is closed
	again bool          // set before turn is closed, if the waiter has to come again
	got   *turn         // set before that, if the lock itself came with the place
	at    int           // its place in the line; notInLine when its turn is about to come
	arrival

	// trouble is what those before it have outlasted when it leaves the line. It
	// is set before turn is closed.
	trouble error
}

// newLocalQueue returns an empty queue.
func newLocalQueue(in *queueSet, key *localKey) *localQueue {
	q := &localQueue{in: in, key: key, free: key.places()}
	q.gone = q.firstGone[:0]
	return q
}

// add takes a place. If there is none, it adds a waiter, and returns how many
// of ours are ahead of it. If the lock is idle, the waiter has that, and its
// place. It reports false if the queue is over.
func (q *localQueue) add(a arrival) (w *localWaiter, ahead int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over {
		return nil, 0, false
	}
	if w := q.takeIdleLocked(a.shared); w != nil {
		return w, 0, true
	}
	isNext := q.waiting.len() == 0 || q.passesLocked(a)
	if isNext && q.joint != nil && a.mayJoin() {
		return &localWaiter{join: q.joint}, 0, true
	}
	if isNext && !q.comesSoonLocked(a) && q.takePlaceLocked(a) {
		return nil, 0, true
	}
	ahead = q.used + q.waiting.len()
	w = &localWaiter{turn: make(chan struct{}), arrival: a}
	q.waiting.add(w)
	if !a.shared {
		q.waitingAlone++
		q.admitLocked() // readers that have waited for a node to share
	}
	return w, ahead, true
}

// passesLocked reports whether one that comes passes all that wait: it does not wait
// for another one's node, and they do nothing else.
func (q *localQueue) passesLocked(a arrival) bool {
	return a.shared && !a.patient && q.waitingAlone == 0
}

// abandon removes a waiter, and returns how many of ours were ahead of it. If
// the waiter got its turn meanwhile, the next waiter gets that. A reader that waits
// for another one's node has nobody ahead of it: they would share the lock.
func (q *localQueue) abandon(ctx context.Context, w *localWaiter) (ahead int) {
	ahead, removed := q.remove(w)
	if removed {
		return ahead
	}
	<-w.turn
	switch {
	case w.got != nil:
		w.got.claim.GiveUp(ctx)
	case !w.hasToComeAgain():
		q.entered(w.shared)
		if q.isAwaited(w.arrival) {
			q.settled()
		}
		q.leave(w.shared, nil)
	}
	return ahead
}

func (q *localQueue) remove(w *localWaiter) (ahead int, removed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	keptOut := q.keepsOutLocked(w.arrival)
	if w.at == notInLine {
		if keptOut {
			ahead = 1 // until now
		}
		return ahead, false
	}
	before := q.used + q.takeOutLocked(w)
	q.admitLocked() // those that w was in the way of
	if keptOut {
		ahead = before
	}
	return ahead, true
}

// leave gives a place up, to the first waiter. The turn that had it is nil if it did
// not come to that.
func (q *localQueue) leave(shared bool, had *turn) {
	q.mu.Lock()
	if !shared {
		q.free++
	}
	q.used--
	if had != nil && q.idle == had {
		q.idle = nil
	}
	if q.waiting.len() == 0 {
		q.trouble = nil // it keeps nobody waiting, and may be over when somebody comes
	}
	q.admitLocked()
	q.over = q.used == 0 && q.waiting.len() == 0
	over := q.over
	q.mu.Unlock()
	if over {
		q.in.remove(q)
	}
}

// entered notes that a goroutine that got a place has its node, or has given up.
func (q *localQueue) entered(shared bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entering.end(shared)
	q.admitLocked()
}

// takePlaceLocked takes a place at the server, if there is one and no other
// goroutine is about to enter that must not be overtaken.
func (q *localQueue) takePlaceLocked(a arrival) bool {
	if !q.entering.admits(a.shared) || !a.shared && q.free == 0 {
		return false
	}
	if !a.shared {
		q.free--
		q.joint = nil
	}
	q.used++
	q.entering.begin(a.shared)
	if q.isAwaited(a) {
		q.coming++
	}
	return true
}

// admitLocked gives places to the first waiters.
func (q *localQueue) admitLocked() {
	for first := q.waiting.first(); first != nil && q.admitsLocked(first); first = q.waiting.first() {
		close(q.takeFirstLocked().turn)
	}
}

// admitsLocked reports whether the first waiter goes on now: it gets a place, or a
// turn to join, or has to come again, because the lock is idle.
func (q *localQueue) admitsLocked(w *localWaiter) bool {
	w.again = w.shared && q.idle != nil
	if w.mayJoin() {
		w.join = q.joint
	}
	return w.hasToComeAgain() || !q.comesSoonLocked(w.arrival) && q.takePlaceLocked(w.arrival)
}

// hasToComeAgain reports whether a waiter whose turn it is has no place.
func (w *localWaiter) hasToComeAgain() bool { return w.join != nil || w.again }

func (q *localQueue) takeFirstLocked() *localWaiter {
	w := q.waiting.first()
	if w != nil {
		q.takeOutLocked(w)
	}
	return w
}

// takeOutLocked takes a waiter out of the line, and returns how many were ahead
// of it there.
func (q *localQueue) takeOutLocked(w *localWaiter) (ahead int) {
	w.trouble = q.trouble
	if !w.shared {
		q.waitingAlone--
	}
	return q.waiting.remove(w)
}

// standingOf returns the place of a waiter now. That is at least what one of
// ours has seen of the server's queue, and where the waiter is among ours.
func (q *localQueue) standingOf(w *localWaiter) flight.Standing {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.keepsOutLocked(w.arrival) {
		return flight.Standing{}
	}
	seen := q.standingLocked()
	at := flight.Standing{
		Seen: seen.Seen, Ahead: seen.Ahead,
		Holder: flight.Contender{Node: seen.Holder, Data: seen.HolderData, Since: seen.HolderSince},
	}
	if w.at != notInLine {
		at.Ahead = max(at.Ahead, q.used+q.waiting.before(w.at))
	}
	return at
}

// isWaitedFor reports whether a goroutine waits for a place.
func (q *localQueue) isWaitedFor() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting.len() > 0
}

// takeFirstFor takes the first waiter off the queue, which is to get the claim.
// There is none for a claim that is lost by now.
func (q *localQueue) takeFirstFor(c *claim.Claim) *localWaiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.Context().Err() != nil {
		return nil
	}
	return q.takeFirstLocked()
}
