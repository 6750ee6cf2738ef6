package recipes

import (
	"context"
	"path"
	"sync"
	"time"

	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/retry"
)

// localQueue is where the goroutines of a client wait that want the same lock.
// Only the holder and the next of them have nodes in the server's queue; the
// others cost the server nothing. The queue has no options: each acquire brings
// the object that it was called on, with its options.
type localQueue struct {
	in  *queueSet // finds it by its key, as long as it is not over
	key localKey

	mu       sync.Mutex // protects the following fields
	over     bool       // nobody is left, and nobody may come: later arrivals find another queue
	free     int        // places at the server
	used     int
	entering bool             // whoever got the last place has no node yet: the next must not overtake it
	waiting  line             // in the order of arrival
	seen     lockloop.Refusal // how things stood when one of us last looked at the server's queue
}

// localWaiter waits for a place.
type localWaiter struct {
	turn   chan struct{} // closed when it has one
	handed *hold         // set before, if the lock itself came with the place
	at     int           // in the line; notInLine when it has been taken off, so that its turn is about to come
}

// newLocalQueue returns an empty queue. If the lock is handed over locally, the
// next of us needs no node.
func newLocalQueue(in *queueSet, key localKey) *localQueue {
	q := &localQueue{in: in, key: key, free: 2}
	if key.object != nil {
		q.free = 1
	}
	return q
}

// acquireLocally is an acquire that waits in the process first, until it may
// queue at the server.
func (l *lock) acquireLocally(ctx context.Context, a attempt) (h *hold, err error) {
	q, w, ahead := localQueues.arrive(*l.local)
	if w != nil {
		if h, err = q.wait(ctx, l, a, w, ahead); err != nil {
			return nil, err
		}
		if h != nil {
			a.trace.isHandedOver()
			return h, nil
		}
	}
	entered := sync.OnceFunc(q.entered)
	defer func() {
		entered()
		if h == nil { // refused, or the user's code has panicked, such as an ACL provider
			q.leave()
		}
	}()
	h, err = l.claim(ctx, a, placeAtServer{entered, q.note})
	if err == nil {
		q.claimed(l, h)
	}
	return h, err
}

// wait waits for a place, and returns the lock if that came with it.
func (q *localQueue) wait(ctx context.Context, l *lock, a attempt, w *localWaiter, ahead int) (*hold, error) {
	limit := l.cfg.queueLimit
	if full := limit > 0 && ahead >= limit; !a.wait || full {
		q.abandon(ctx, w)
		return nil, l.refusedLocally(ctx, ahead, full)
	}

	told := false
	defer func() {
		if !told { // the user's tracer has panicked
			q.abandon(ctx, w)
		}
	}()
	a.trace.queuedLocally(ahead)
	told = true
	select {
	case <-w.turn:
		return w.handed, nil
	case <-ctx.Done():
		return nil, q.gaveUp(ctx, l, q.abandon(ctx, w))
	}
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
	if w.at == notInLine {
		return 0, false
	}
	return q.used + q.waiting.remove(w), true
}

// leave gives up a place, to the first who waits for one.
func (q *localQueue) leave() {
	q.mu.Lock()
	q.free++
	q.used--
	if q.used == 0 {
		q.seen = lockloop.Refusal{} // nobody is left who would hear of what comes
	}
	q.admitLocked()
	q.over = q.used == 0 && q.waiting.len() == 0
	over := q.over
	q.mu.Unlock()
	if over {
		q.in.remove(q)
	}
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
	if q.waiting.len() > 0 && q.takePlaceLocked() {
		close(q.firstLocked().turn)
	}
}

// firstLocked takes the first waiter off the queue, if there is one.
func (q *localQueue) firstLocked() *localWaiter {
	w := q.waiting.first()
	if w != nil {
		q.waiting.remove(w)
	}
	return w
}

// note takes down how things stand at the server, for the errors of those who wait here.
func (q *localQueue) note(r lockloop.Refusal) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen = r
}

// refusedLocally is the error of an acquire that does not wait.
func (l *lock) refusedLocally(ctx context.Context, ahead int, full bool) error {
	r, err := l.loop.Look(ctx)
	if err != nil {
		return l.opError(err)
	}
	r.Ahead, r.Full = max(r.Ahead, ahead), full
	return l.refused(ctx, &r)
}

// gaveUp is the error of a waiter whose context has ended.
func (q *localQueue) gaveUp(ctx context.Context, l *lock, ahead int) error {
	q.mu.Lock()
	r := q.seen
	q.mu.Unlock()
	r.Ahead, r.Err = max(r.Ahead, ahead), retry.ContextError(ctx)
	return l.refused(ctx, &r)
}

// claimed says that one of us holds the lock, and sees to it that the next takes its place at the server as soon as the
// claim is over.
func (q *localQueue) claimed(l *lock, h *hold) {
	node := h.nodes[0]
	q.note(lockloop.Refusal{
		Seen: time.Now(), Ahead: 1, Holder: path.Base(node.Path), HolderData: h.data, HolderSession: node.Session.ID(),
	})
	q.turn(h, &localTurn{lock: l, since: time.Now(), n: 1})
}

func (q *localQueue) turn(h *hold, t *localTurn) {
	t.queue = q
	t.lost = h.afterEnd(t.over)
	h.local = t
}

// localTurn is one goroutine's turn with the lock. The nil turn is that of a lock whose goroutines do not share a queue.
type localTurn struct {
	queue *localQueue
	lock  *lock     // the object that it was acquired with
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
	if t == nil || t.n > t.lock.cfg.handOvers || time.Since(t.since) >= t.lock.cfg.handOver {
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
	t.queue.turn(next, &localTurn{lock: t.lock, since: t.since, n: t.n + 1})
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
