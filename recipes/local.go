package recipes

import (
	"container/list"
	"context"
	"path"
	"sync"
	"time"

	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/retry"
)

// localQueue is where the goroutines wait that share one lock object. Only the holder and the next of them have nodes in
// the server's queue; the others cost the server nothing.
type localQueue struct {
	lock *lock

	mu       sync.Mutex // protects the following fields
	free     int        // places at the server
	used     int
	entering bool             // whoever got the last place has no node yet: the next must not overtake it
	waiting  list.List        // of *localWaiter, in the order of arrival
	seen     lockloop.Refusal // how things stood when one of us last looked at the server's queue
}

// localWaiter waits for a place.
type localWaiter struct {
	turn   chan struct{} // closed when it has one
	handed *hold         // set before, if the lock itself came with the place
	at     *list.Element // in the queue; nil when it has been taken off, so that its turn is about to come
}

// newLocalQueue returns the queue of a lock. Where the lock is handed over locally, the next of us needs no node.
func newLocalQueue(l *lock) *localQueue {
	q := &localQueue{lock: l, free: 2}
	if l.cfg.handOvers > 0 {
		q.free = 1
	}
	l.loop.Note = q.note
	return q
}

func (q *localQueue) acquire(ctx context.Context, a attempt) (h *hold, err error) {
	h, err = q.enter(ctx, a)
	if err != nil {
		return nil, err
	}
	if h != nil {
		a.trace.isHandedOver()
		return h, nil
	}
	entered := sync.OnceFunc(q.entered)
	defer func() {
		entered()
		if h == nil { // refused, or the user's code has panicked, such as an ACL provider
			q.leave()
		}
	}()
	h, err = q.lock.claim(ctx, a, entered)
	if err == nil {
		q.claimed(h)
	}
	return h, err
}

// enter waits for a place, and returns the lock if that came with it.
func (q *localQueue) enter(ctx context.Context, a attempt) (*hold, error) {
	w, ahead := q.add()
	if w == nil {
		return nil, nil
	}
	limit := q.lock.cfg.queueLimit
	if full := limit > 0 && ahead >= limit; !a.wait || full {
		q.abandon(ctx, w)
		return nil, q.refused(ctx, ahead, full)
	}
	a.trace.queuedLocally(ahead)
	select {
	case <-w.turn:
		return w.handed, nil
	case <-ctx.Done():
		return nil, q.gaveUp(ctx, q.abandon(ctx, w))
	}
}

// add takes a place, or adds a waiter and returns how many of ours are ahead of it.
func (q *localQueue) add() (w *localWaiter, ahead int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.takePlaceLocked() {
		return nil, 0
	}
	ahead = q.used + q.waiting.Len()
	w = &localWaiter{turn: make(chan struct{})}
	w.at = q.waiting.PushBack(w)
	return w, ahead
}

// abandon removes a waiter, and returns how many of ours were ahead of it. A turn that came meanwhile goes to the next.
func (q *localQueue) abandon(ctx context.Context, w *localWaiter) (ahead int) {
	ahead, removed := q.remove(w)
	if removed {
		return ahead
	}
	<-w.turn
	if w.handed != nil {
		w.handed.giveUp(ctx)
	} else {
		q.entered()
		q.leave()
	}
	return 1
}

func (q *localQueue) remove(w *localWaiter) (ahead int, removed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.at == nil {
		return 0, false
	}
	ahead = q.used
	for before := w.at.Prev(); before != nil; before = before.Prev() {
		ahead++
	}
	q.waiting.Remove(w.at)
	return ahead, true
}

// leave gives up a place, to the first who waits for one.
func (q *localQueue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free++
	q.used--
	if q.used == 0 {
		q.seen = lockloop.Refusal{} // nobody is left who would hear of what comes
	}
	q.admitLocked()
}

// entered says that whoever got the last place has its node, or has given up.
func (q *localQueue) entered() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entering = false
	q.admitLocked()
}

// takePlaceLocked takes a place at the server, if there is one and nobody is on the way to it.
func (q *localQueue) takePlaceLocked() bool {
	if q.entering || q.free == 0 {
		return false
	}
	q.free--
	q.used++
	q.entering = true
	return true
}

// admitLocked gives a place to the first who waits for one.
func (q *localQueue) admitLocked() {
	if q.waiting.Len() > 0 && q.takePlaceLocked() {
		close(q.firstLocked().turn)
	}
}

// firstLocked takes the first waiter off the queue, if there is one.
func (q *localQueue) firstLocked() *localWaiter {
	first := q.waiting.Front()
	if first == nil {
		return nil
	}
	w := q.waiting.Remove(first).(*localWaiter)
	w.at = nil
	return w
}

// note takes down how things stand at the server, for the errors of those who wait here.
func (q *localQueue) note(r lockloop.Refusal) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen = r
}

// refused is the error of an acquire that does not wait.
func (q *localQueue) refused(ctx context.Context, ahead int, full bool) error {
	r, err := q.lock.loop.Look(ctx)
	if err != nil {
		return q.lock.opError(err)
	}
	r.Ahead, r.Full = max(r.Ahead, ahead), full
	return q.lock.refused(ctx, &r)
}

// gaveUp is the error of a waiter whose context has ended.
func (q *localQueue) gaveUp(ctx context.Context, ahead int) error {
	q.mu.Lock()
	r := q.seen
	q.mu.Unlock()
	r.Ahead, r.Err = max(r.Ahead, ahead), retry.ContextError(ctx)
	return q.lock.refused(ctx, &r)
}

// claimed says that one of us holds the lock, and sees to it that the next takes its place at the server as soon as the
// claim is over.
func (q *localQueue) claimed(h *hold) {
	q.note(lockloop.Refusal{Ahead: 1, Holder: path.Base(h.nodes[0].Path), HolderData: h.data})
	q.turn(h, time.Now(), 1)
}

func (q *localQueue) turn(h *hold, since time.Time, n int) {
	t := &localTurn{queue: q, since: since, n: n}
	t.lost = context.AfterFunc(h.ctx, t.over)
	h.local = t
}

// localTurn is one goroutine's turn with the lock. The nil turn is that of a lock whose goroutines do not share a queue.
type localTurn struct {
	queue *localQueue
	since time.Time // the lock has been with us
	n     int       // turns since then, this one included
	lost  func() bool
	once  sync.Once
}

// over frees the turn's place.
func (t *localTurn) over() {
	if t != nil {
		t.once.Do(t.queue.leave)
	}
}

// passOn hands the lock to the first who waits here, and reports whether it did.
func (t *localTurn) passOn(h *hold) bool {
	if t == nil || t.n > t.queue.lock.cfg.handOvers || time.Since(t.since) >= t.queue.lock.cfg.handOver {
		return false
	}
	if !t.lost() { // the claim is over, and so is the turn
		return false
	}
	w := t.queue.first()
	if w == nil {
		return false
	}
	next := h.successor()
	h.end(ErrReleased)
	if next == nil {
		t.once.Do(func() { t.queue.yield(w) }) // it gets the place, at least
		return false
	}
	t.queue.turn(next, t.since, t.n+1)
	w.handed = next
	close(w.turn)
	return true
}

// yield gives our own place to a waiter.
func (q *localQueue) yield(w *localWaiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entering = true
	close(w.turn)
}

func (q *localQueue) first() *localWaiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.firstLocked()
}
