package queue

import (
	"context"
	"sync"

	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// localQueue is where the goroutines of a client wait that want the same lock.
// Only the holder and the next one have nodes in the server's queue; the others
// cost the server nothing. The queue has no options: each acquire brings the
// object that it was called on, with its options.
type localQueue struct {
	in  *queueSet // finds it by its key, as long as it is not over
	key localKey

	mu       sync.Mutex // protects the following fields
	over     bool       // it is empty for good: later arrivals find another queue
	free     int        // places at the server
	used     int
	entering bool                 // a goroutine with a place has no node yet: the next must not overtake it
	waiting  line                 // in the order of arrival
	seen     lockloop.NotAdmitted // how things stood when one of us last looked at the server's queue
}

// localWaiter waits for a place.
type localWaiter struct {
	turn   chan struct{} // closed when it has one
	handed *claim.Claim  // set before, if the lock itself came with the place
	at     int           // in the line; notInLine when it has been taken off, so that its turn is about to come
}

// newLocalQueue returns an empty queue. If the lock is handed over locally, the
// next goroutine needs no node.
func newLocalQueue(in *queueSet, key localKey) *localQueue {
	q := &localQueue{in: in, key: key, free: 2}
	if key.object != nil {
		q.free = 1
	}
	return q
}

// add takes a place, or adds a waiter and returns how many of ours are ahead of
// it. It reports false if the queue is over.
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

// abandon removes a waiter, and returns how many of ours were ahead of it. A
// turn that came meanwhile goes to the next waiter.
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
	if q.used == 0 {
		q.seen = lockloop.NotAdmitted{} // nobody is left to hear of what comes
	}
	q.admitLocked()
	q.over = q.used == 0 && q.waiting.len() == 0
	over := q.over
	q.mu.Unlock()
	if over {
		q.in.remove(q)
	}
}

// entered says that the goroutine that got the last place has its node, or has
// given up.
func (q *localQueue) entered() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entering = false
	q.admitLocked()
}

// takePlaceLocked takes a place at the server, if there is one and no goroutine
// is on its way to one.
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

// note takes down how things stand at the server, for the errors of goroutines
// that wait here.
func (q *localQueue) note(r lockloop.NotAdmitted) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen = r
}

func (q *localQueue) standing() lockloop.NotAdmitted {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.seen
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
