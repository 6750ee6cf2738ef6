package seat

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
)

// use is how the goroutines of a client use a seat. The mutex lane.mu protects it.
type use struct {
	driver *waiter            // the waiter that gets the node admitted, or nil
	queued *framework.Created // a node that the previous driver has left to this one, or nil

	granted   time.Time // when the server granted the lock
	turns     int32     // how many goroutines have held the lock since then
	contended bool      // the node was behind another client's node, and there was no release since

	hadTwin   bool     // for queued: see contender.mayHaveTwin
	vacates   bool     // goroutines get another seat, as soon as lane.called is zero
	parks     bool     // the node may stay in the process; for a read/write lock, only the readers' node
	excluding []string // the kinds of nodes that exclude the seat's node

	// A field is nil if the seat does not use it.
	reading *reading     // for readers
	parking *parking     // for a seat that can be parked
	minimum *minimumHold // for a lock with a minimum hold
}

// drive gets a seat admitted at the server, for a waiter with the role drives.
func (q *lane) drive(ctx context.Context, a Attempt, w *waiter) (*Hold, error) {
	s := w.seat
	c := newContender(w.of, a)
	c.lane, c.waiter = q, w
	q.mu.Lock()
	if left := s.queued; left != nil {
		c.node, c.mayHaveTwin, s.queued = *left, s.hadTwin, nil
	}
	q.mu.Unlock()
	for {
		if refusal := c.run(ctx); refusal != nil {
			q.complete(refusal, w)
			q.refused(ctx, w, *refusal)
			return nil, w.of.Refuse(ctx, refusal)
		}
		if h := q.seated(w, c); h != nil {
			return h, nil
		}
		c.distrust()
	}
}

// seated records that the node of a driver was admitted, and returns the driver's hold.
// It returns nil if the node can no longer be trusted.
func (q *lane) seated(w *waiter, c *contender) *Hold {
	s := w.seat
	s.terms, s.data = w.of.terms(), c.data
	q.mu.Lock()
	q.seen, s.granted, s.turns, s.contended = NotAdmitted{}, time.Now(), 1, c.wasBehind
	if s.reading != nil {
		s.reading.listed, s.reading.closed = c.listed, c.excluding
	}
	q.mu.Unlock()
	h := s.admit([]framework.Created{c.node}, c.own)
	if h == nil {
		return nil
	}
	w.role, w.seat = sits, nil
	w.take(h)
	holdAtLeast(h)
	q.mu.Lock()
	s.driver = nil
	s.reading.letInLocked()
	q.decideLocked()
	q.mu.Unlock()
	q.endRivals(s)
	return h
}

// passOn leaves the node of a driver that gives up to the first waiter, if that waiter
// would create the same node.
func (q *lane) passOn(w *waiter, c *contender) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := w.seat
	if !c.seen.Seen.IsZero() { // the driver gives up because of other contenders
		s.reading.turnAwayLocked(c.node.Session, c.seen)
	}
	s.hadTwin = c.mayHaveTwin
	return q.driveNextLocked(s, c.node)
}

// driveNextLocked leaves the node of a seat to the first waiter, if that waiter would
// create the same node.
func (q *lane) driveNextLocked(s *Seat, node framework.Created) bool {
	next := q.line.first()
	if next == nil || next.isShared() != s.shared {
		return false
	}
	s.driver, s.queued = next, &node
	q.giveLocked(next, drives)
	return true
}

// refused ends the driving of a waiter. If the next driver would get the same error, the
// waiters get the error at once instead of one after the other: all of them, or in an
// outage only the tries.
func (q *lane) refused(ctx context.Context, w *waiter, r NotAdmitted) {
	if all := EndsAcquire(r.Err); r.Err != nil && ctx.Err() == nil && (all || w.tries) {
		q.mu.Lock()
		q.failLocked(r, !all)
		q.mu.Unlock()
	}
	q.stopDriving(w)
}

// failLocked refuses all waiters in the line, or only the tries among them. The field
// r.Ahead counts the contenders ahead of the first waiter.
func (q *lane) failLocked(r NotAdmitted, tries bool) {
	for _, w := range slices.Clone(q.line) {
		if w.tries || !tries {
			failed := r
			failed.Ahead += q.line.before(w)
			w.failed = &failed
			q.giveLocked(w, fails)
		}
	}
}

// stopDriving vacates the seat of a driver that has given up, unless another driver has
// taken over. If the driver has not started with a node that was left to it, the next
// driver gets that node.
func (q *lane) stopDriving(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := w.seat; s.driver == w {
		s.driver = nil
		left := s.queued
		if left != nil && left.Session.Context().Err() == nil && q.driveNextLocked(s, *left) {
			return
		}
		if s.become(Gone); left != nil {
			framework.Extend(w.of.cfg.Client).DeleteInBackground(left.Path)
		}
		q.vacateLocked(s)
		q.decideLocked()
	}
}

// endRivals ends holds of this client if their lock and the lock of a newly admitted seat
// exclude each other: another client must have deleted the node of the earlier seat, and the
// watch has not fired yet. The tokens say which seat is the earlier one. The age of its node
// does not, because a writer that has become a reader has a younger node.
func (q *lane) endRivals(s *Seat) {
	gone := q.rivals(s)
	for _, other := range q.in.beside(q) {
		gone = append(gone, other.rivals(s)...)
	}
	for _, r := range gone {
		if r.token > s.token {
			r = s
		}
		r.NodeDeleted()
	}
}

// rivals returns the seats of a lane that seem to have the lock, and that cannot have it
// at the same time as s.
func (q *lane) rivals(s *Seat) (rivals []*Seat) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.live {
		if r != s && (!r.shared || !s.shared) && r.hasNodes() {
			rivals = append(rivals, r)
		}
	}
	return rivals
}

// laneKey identifies a lane. Lock objects share a lane if their nodes would be the same
// and their views of the client have the same namespace.
type laneKey struct {
	Key
	dir       string // the lock's path in the namespace of the view
	data      string
	exactData bool
	anonymous bool
	revocable bool
}

func laneKeyOf(l *Lock) laneKey {
	key := laneKey{
		Key: l.Key(), dir: l.cfg.Path, data: string(l.cfg.Data), exactData: l.cfg.ExactData,
		anonymous: l.cfg.Anonymous, revocable: l.cfg.Revocable,
	}
	key.kind = l.cfg.Kinds[0] // the same for both sides of a read/write lock
	return key
}

// lanes are the lanes of all clients of this process. A lane exists while a goroutine
// holds or acquires the lock, or while a seat is parked.
var lanes laneSet

// laneSet finds lanes by their keys. Its mutex may be locked while a lane's mutex is
// locked.
type laneSet struct {
	mu    sync.Mutex    // protects the following field, and the links between lanes
	byKey map[Key]*lane // the first lane of each lock, which links to the others; remove deletes lanes that are over
}

// arrive adds a waiter to its lane, and creates the lane if necessary.
func (s *laneSet) arrive(key laneKey, w *waiter) (q *lane, ahead int) {
	for {
		q = s.find(key, true)
		q.mu.Lock()
		if !q.over {
			ahead = q.addLocked(w)
			q.mu.Unlock()
			return q, ahead
		}
		q.mu.Unlock()
		s.remove(q) // the goroutine that ended the lane will remove it, but may be slow
	}
}

// find returns a lane. If there is none, find creates it, or returns nil.
func (s *laneSet) find(key laneKey, creates bool) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	for q := s.byKey[key.Key]; q != nil; q = q.next {
		if q.key == key {
			return q
		}
	}
	if !creates {
		return nil
	}
	if s.byKey == nil {
		s.byKey = map[Key]*lane{}
	}
	q := &lane{in: s, key: key, next: s.byKey[key.Key]}
	s.byKey[key.Key] = q
	return q
}

// beside returns the other lanes of a lock, used by objects whose nodes differ.
func (s *laneSet) beside(q *lane) (others []*lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := s.byKey[q.key.Key]; other != nil; other = other.next {
		if other != q {
			others = append(others, other)
		}
	}
	return others
}

// remove removes a lane that is over, unless it was already removed.
func (s *laneSet) remove(q *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.byKey[q.key.Key]
	for at := &first; *at != nil; at = &(*at).next {
		if *at == q {
			*at = q.next
			break
		}
	}
	if first == nil {
		delete(s.byKey, q.key.Key)
	} else {
		s.byKey[q.key.Key] = first
	}
}

// line has the waiting goroutines, in the order of their arrival. A waiter may leave from
// any position. Finding a waiter is a linear search of pointers, which is fast enough
// even if thousands leave at once.
type line []*waiter

// remove removes a waiter, if it is in the line.
func (l *line) remove(w *waiter) {
	if at := l.before(w); at >= 0 {
		*l = slices.Delete(*l, at, at+1)
	}
	if len(*l) == 0 {
		*l = nil
	}
}

// first returns the first waiter, or nil.
func (l line) first() *waiter {
	if len(l) == 0 {
		return nil
	}
	return l[0]
}

// before returns the number of waiters ahead of w, or -1 if w is not in the line.
func (l line) before(w *waiter) int { return slices.Index(l, w) }

// hasWriter reports whether a waiter wants the lock exclusively.
func (l line) hasWriter() bool {
	return slices.ContainsFunc(l, func(w *waiter) bool { return !w.isShared() })
}
