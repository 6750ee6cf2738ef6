package explore

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/internal/zkinside"
)

// item is an event under way: a message, or an actor that pauses.
type item struct {
	actor   *Actor
	message *zkinside.Message // nil for a pause
	text    string
	lane    lane
	seq     int // its number among all items, and so in its lane
	order   int // its place in the queue; 0 before it has one
	arrive  func()

	held  bool      // the item waits until nothing else is under way
	until time.Time // the item also waits until this time, unless zero
}

// lane is a source whose items keep their order: one direction of a connection, or an
// actor.
type lane struct {
	actor    *Actor
	member   int
	conn     int64
	toClient bool
}

func (l lane) compare(o lane) int {
	return cmp.Or(cmp.Compare(l.actor.name, o.actor.name), cmp.Compare(l.member, o.member),
		cmp.Compare(l.conn, o.conn), compareBool(l.toClient, o.toClient))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// stalled reports whether the item has to wait for time to pass.
func (i *item) stalled() bool { return time.Now().Before(i.until) }

func (i *item) lost() bool { return i.message != nil && i.message.Lost() }

// queue has all items under way.
type queue struct {
	mu    sync.Mutex
	free  bool // everything arrives at once
	items []*item
	seq   int
	next  int           // order of the next item
	wake  chan struct{} // capacity 1: an item was added
}

// add lets an item wait for its move. It may be called from any goroutine.
func (q *queue) add(i *item) {
	q.mu.Lock()
	free := q.free
	if !free {
		q.seq++
		i.seq = q.seq
		q.items = append(q.items, i)
	}
	q.mu.Unlock()
	if free {
		i.arrive()
		return
	}
	q.signal()
}

// signal ends a wait for an item.
func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// nextDue returns the shortest wait of a delayed item, but at most limit.
func (q *queue) nextDue(limit time.Duration) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, i := range q.items {
		if left := time.Until(i.until); left > 0 {
			limit = min(limit, left)
		}
	}
	return limit
}

// release lets all items arrive, and all later items at once.
func (q *queue) release() {
	q.mu.Lock()
	q.free = true
	items := q.items
	q.items = nil
	q.mu.Unlock()
	for _, i := range items {
		i.arrive()
	}
}

// settle queues the items that were added since the last call. Their order does not
// depend on the scheduler of goroutines.
func (q *queue) settle() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = slices.DeleteFunc(q.items, (*item).lost)
	n := len(q.items)
	for n > 0 && q.items[n-1].order == 0 {
		n--
	}
	fresh := q.items[n:]
	slices.SortStableFunc(fresh, func(a, b *item) int { return a.lane.compare(b.lane) })
	for _, i := range fresh {
		q.next++
		i.order = q.next
	}
}

// ready returns the items that may arrive, in their order.
func (q *queue) ready() []*item {
	q.mu.Lock()
	defer q.mu.Unlock()
	first := map[lane]*item{}
	for _, i := range q.items {
		if o := first[i.lane]; o == nil || i.seq < o.seq {
			first[i.lane] = i
		}
	}
	var ready []*item
	for _, i := range q.items {
		if first[i.lane] == i {
			ready = append(ready, i)
		}
	}
	return ready
}

// take removes an item that is about to arrive.
func (q *queue) take(i *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = slices.DeleteFunc(q.items, func(o *item) bool { return o == i })
}

// postpone moves an item to the end of the queue.
func (q *queue) postpone(i *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = slices.DeleteFunc(q.items, func(o *item) bool { return o == i })
	q.items = append(q.items, i)
	q.next++
	i.order = q.next
}

// texts names all items in order.
func (q *queue) texts(each func(string)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, i := range q.items {
		each(i.text)
		if i.held {
			each("held " + i.until.String())
		}
	}
}
