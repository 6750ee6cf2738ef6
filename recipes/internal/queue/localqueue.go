package queue

import (
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
type localQueue struct {
	in  *queueSet // finds this queue by its key until it is over
	key localKey

	mu       sync.Mutex // protects the following fields
	over     bool       // it is empty for good: later arrivals get another queue
	free     int        // places at the server
	used     int
	entering bool // a goroutine with a place has no node yet: the next must not overtake it
	waiting  line // in the order of arrival

	seen   lockloop.NotAdmitted   // the server's queue as one of us saw it last
	beyond lockloop.NotAdmitted   // the queue that the holder is in, as one of us saw it last
	known  []lockloop.NotAdmitted // holders whose data one of us has read or written
	gone   []string               // nodes of ours that had the lock, and were given up
}

// localWaiter waits for a place.
type localWaiter struct {
	turn   chan struct{} // closed when the waiter has a place
	handed *claim.Claim  // set before that, if the lock itself came with the place
	at     int           // its place in the line; notInLine when its turn is about to come
}

// newLocalQueue returns an empty queue. If goroutines hand the lock over
// locally, the next one needs no node.
func newLocalQueue(in *queueSet, key localKey) *localQueue {
	q := &localQueue{in: in, key: key, free: 2}
	if key.object != nil {
		q.free = 1
	}
	return q
}

// add takes a place. If there is none, it adds a waiter, and returns how many
// of ours are ahead of it. It reports false if the queue is over.
func (q *localQueue) add() (w *localWaiter, ahead int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over {
		return nil, 0, false
	}
	if q.takePlaceLocked() {
		return nil, 0, true
	}
	ahead = q.used + q.waiting.len()
	w = &localWaiter{turn: make(chan struct{})}
	q.waiting.add(w)
	return w, ahead, true
}

// abandon removes a waiter, and returns how many of ours were ahead of it. If
// the waiter got its turn meanwhile, the next waiter gets that.
func (q *localQueue) abandon(ctx context.Context, w *localWaiter) (ahead int) {
	ahead, removed := q.remove(w)
	if removed {
		return ahead
	}
	<-w.turn
	if w.handed != nil {
		w.handed.GiveUp(ctx)
	} else {
		q.entered()
		q.leave()
	}
	return 1
}

func (q *localQueue) remove(w *localWaiter) (ahead int, removed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.at == notInLine {
		return 0, false
	}
	return q.used + q.waiting.remove(w), true
}

// leave gives a place up, to the first waiter.
func (q *localQueue) leave() {
	q.mu.Lock()
	q.free++
	q.used--
	q.admitLocked()
	q.over = q.used == 0 && q.waiting.len() == 0
	over := q.over
	q.mu.Unlock()
	if over {
		q.in.remove(q)
	}
}

// entered notes that the goroutine that got the last place has its node, or has
// given up.
func (q *localQueue) entered() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entering = false
	q.admitLocked()
}

// takePlaceLocked takes a place at the server, if there is one and no other
// goroutine is about to enter.
func (q *localQueue) takePlaceLocked() bool {
	if q.entering || q.free == 0 {
		return false
	}
	q.free--
	q.used++
	q.entering = true
	return true
}

// admitLocked gives a free place to the first waiter.
func (q *localQueue) admitLocked() {
	if q.waiting.len() > 0 && q.takePlaceLocked() {
		close(q.takeFirstLocked().turn)
	}
}

func (q *localQueue) takeFirstLocked() *localWaiter {
	w := q.waiting.first()
	if w != nil {
		q.waiting.remove(w)
	}
	return w
}

// standingOf returns the place of a waiter now. That is at least what one of
// ours has seen of the server's queue, and where the waiter is among ours.
func (q *localQueue) standingOf(w *localWaiter) flight.Standing {
	q.mu.Lock()
	defer q.mu.Unlock()
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

// yield gives our own place to a waiter.
func (q *localQueue) yield(w *localWaiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entering = true
	close(w.turn)
}

// takeFirst takes the first waiter off the queue, if there is one.
func (q *localQueue) takeFirst() *localWaiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.takeFirstLocked()
}
