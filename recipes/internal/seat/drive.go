package seat

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
)

// use is how the goroutines of a client use a seat. It is protected by lane.mu.
type use struct {
	driver *waiter            // has the node admitted, or nil
	queued *framework.Created // a node that a driver has left to this one, or nil

	granted   time.Time // when the lock came from the server
	turns     int       // how many goroutines have had the lock since then
	contended bool      // the node was behind another client's, and no holder has released it yet

	hadTwin   bool     // of queued: see contender.mayHaveTwin
	parks     bool     // its node may stay in the process: of a read/write lock, only the readers'
	excluding []string // the kinds of the nodes that exclude it

	// Each of these is nil for a seat that has no use for it.
	reading *reading     // of readers
	parking *parking     // of a seat that may stay when nobody holds it
	minimum *minimumHold // of a lock that has one
}

// drive has a seat admitted at the server, for a waiter that drives.
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

// seated notes that the node of a driver was admitted, and returns its hold. It
// returns nil if the node cannot be trusted by now.
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
	w.role = sits
	w.has(h)
	holdAtLeast(h)
	q.mu.Lock()
	s.driver = nil
	s.reading.letInLocked()
	q.decideLocked()
	q.mu.Unlock()
	q.endRivals(s)
	return h
}

// passOn leaves the node of a driver that gives up to the first waiter, if that would
// make the same.
func (q *lane) passOn(w *waiter, c *contender) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := w.seat
	if !c.seen.Seen.IsZero() { // it gives up because of others
		s.reading.turnAwayLocked(c.node.Session, c.seen)
	}
	s.hadTwin = c.mayHaveTwin
	return q.driveNextLocked(s, c.node)
}

// driveNextLocked leaves the node of a seat to the first waiter, if that would make the
// same.
func (q *lane) driveNextLocked(s *Seat, node framework.Created) bool {
	next := q.line.first()
	if next == nil || next.isShared() != s.shared {
		return false
	}
	s.driver, s.queued = next, &node
	q.giveLocked(next, drives)
	return true
}

// refused ends the driving of a waiter. If its error would be the next one's, too,
// all who wait have it at once: otherwise each would have it after the one before.
func (q *lane) refused(ctx context.Context, w *waiter, r NotAdmitted) {
	switch {
	case r.Err == nil || ctx.Err() != nil:
	case EndsAcquire(r.Err):
		q.mu.Lock()
		q.failLocked(r, false)
		q.mu.Unlock()
	case w.tries:
		q.noteOutage(r.Err)
		q.noteOutage(nil)
	}
	q.stopDriving(w)
}

// failLocked refuses the waiters in the line, or only the tries among them. So many as r
// says are ahead of the first in the line.
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

// stopDriving vacates the seat of a driver that has given up, unless another one
// drives it now. A node that the driver was left, and has not begun with, is left to
// the next.
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
		q.finishLocked()
	}
}

// endRivals ends what this client holds of the lock that a seat has just got, and
// that excludes it: another client has deleted the node, and no watch has told the
// holder of that yet. Of two seats, the one that got the lock first has lost it. Tokens say
// which that is: the node of a reader that was a writer is younger than its place.
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

// rivals returns the seats of a lane that have the lock, as far as they know, and
// cannot have it at the same time as s.
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

// laneKey identifies the lane that goroutines share. Objects share one if their
// nodes would be the same, in views of the client with one namespace.
type laneKey struct {
	Key
	dir       string // the lock's path in that namespace
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
// holds or acquires the lock, or keeps it for the next one.
var lanes laneSet

// laneSet finds lanes by their keys. Its mutex may be locked while a lane's is.
type laneSet struct {
	mu    sync.Mutex    // protects the following field, and the links between lanes
	byKey map[Key]*lane // the first lane of each lock, to which the others are linked; remove removes one that is over
}

// arrive puts a waiter into its lane, and makes that if need be.
func (s *laneSet) arrive(key laneKey, w *waiter) (q *lane, ahead int) {
	for {
		q = s.find(key)
		q.mu.Lock()
		if !q.over {
			ahead = q.addLocked(w)
			q.mu.Unlock()
			return q, ahead
		}
		q.mu.Unlock()
		s.remove(q) // the goroutine that has ended it is going to do that, and may be slow
	}
}

func (s *laneSet) find(key laneKey) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.lookUpLocked(key); q != nil {
		return q
	}
	if s.byKey == nil {
		s.byKey = map[Key]*lane{}
	}
	q := &lane{in: s, key: key, next: s.byKey[key.Key]}
	s.byKey[key.Key] = q
	return q
}

// lookUp is find for a lane that is in use, or was: it makes none.
func (s *laneSet) lookUp(key laneKey) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lookUpLocked(key)
}

func (s *laneSet) lookUpLocked(key laneKey) *lane {
	for q := s.byKey[key.Key]; q != nil; q = q.next {
		if q.key == key {
			return q
		}
	}
	return nil
}

// beside returns the other lanes of a lock: those of objects whose nodes differ.
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

// remove removes a lane that is over, unless it was removed before.
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

// line are goroutines that wait, in the order of their arrival. They may leave from any
// position. To find one takes as long as to look at thousands of pointers, which is little:
// thousands may leave at once.
type line []*waiter

// remove takes a waiter out, if it is in the line.
func (l *line) remove(w *waiter) {
	if at := l.before(w); at >= 0 {
		*l = slices.Delete(*l, at, at+1)
	}
	if len(*l) == 0 {
		*l = nil
	}
}

// first returns the waiter that came first, or nil.
func (l line) first() *waiter {
	if len(l) == 0 {
		return nil
	}
	return l[0]
}

// before returns how many are ahead of a waiter; -1 if it is not in the line.
func (l line) before(w *waiter) int { return slices.Index(l, w) }

// hasWriter reports whether one of them wants the lock alone.
func (l line) hasWriter() bool {
	return slices.ContainsFunc(l, func(w *waiter) bool { return !w.isShared() })
}
