package seat

import (
	"context"
	"slices"
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

// EndsAcquire is the Ends of a follow.Recovery for an acquire: it retries through
// outages, and losses of the session. Its caller receives all other errors.
func EndsAcquire(err error) bool { return !framework.IsConnectionError(err) }
