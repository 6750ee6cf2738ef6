package seat

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
)

// reading is what a seat needs that readers share. All who have waited for it get it
// when it is admitted. Others may join its holders for a short time after the queue
// was listed, or as long as a watch tells that nobody has come. Then one of them looks
// again. Nobody joins any more when the listing has a writer: those who come next get a
// seat behind that. A writer of this client waits in the line, and nobody passes it
// there. It is protected by lane.mu.
type reading struct {
	listed    time.Time // when a listing came that had no writer; zero if there is none, or a watch has fired since
	closed    bool      // nobody may join any more
	isLooking bool      // one of the readers looks at the queue
	isBlocked bool      // the driver has seen that others are ahead
	excluding []string  // the kinds of the nodes that share the lock with none of this kind
}

// joinsFor is for how long after a listing readers join: so much longer a writer of
// another client may wait.
const joinsFor = 100 * time.Millisecond

// isOpen reports whether readers may join without a look.
func (s *Seat) isOpen() bool {
	if s.closed || !s.isConnected() {
		return false
	}
	return s.others.watch != nil && !s.othersCame() || time.Since(s.listed) <= joinsFor
}

// letInLocked gives a seat that was just admitted to the readers that have waited for
// it, also if a writer of another client has queued behind its node. That writer waits
// for the slowest of them. If only one got in, a client with a hundred readers would
// wait for a hundred writers.
func (q *lane) letInLocked(s *Seat) {
	for w := q.line.first(); w != nil && w.isShared() && s.shared && s.mayPass(); w = q.line.first() {
		q.sitLocked(w, s)
	}
}

// isShortWaitLocked reports whether a waiter waits for an answer of the server alone,
// as it would for its own: then a try waits, too, and a queue limit does not matter.
// That is so among readers until they know that others are ahead.
func (q *lane) isShortWaitLocked(w *waiter) bool {
	s := q.seat
	if s == nil || !s.shared || !w.isShared() || q.line.alone > 0 && w != q.line.first() {
		return false
	}
	state := s.State()
	return state == Held || state == Queueing && !s.isBlocked // Held: one looks, or is about to let all in
}

// turnAwayLocked notes that others are ahead of a seat, and refuses those in the line
// that must not wait for them. So many are ahead of the first in the line.
func (q *lane) turnAwayLocked(s *Seat, seen NotAdmitted, ahead int) {
	s.isBlocked = true
	if !s.shared {
		return // nobody has waited
	}
	for _, w := range slices.Clone(q.line.waiting) {
		if !w.leaves {
			continue
		}
		failed := seen
		failed.Ahead = ahead + q.line.before(w)
		failed.Full = w.of.isFull(failed.Ahead)
		if w.leaves = w.tries || failed.Full; w.leaves {
			w.failed = &failed
			q.giveLocked(w, fails)
		}
	}
}

// lookAgain looks, for a reader, whether a seat may be joined still. The reader goes
// back to the front of the line then. With a policy that parks seats, the look sets
// the watch that they need.
func (q *lane) lookAgain(ctx context.Context, w *waiter, wait bool) *lane {
	s := w.seat
	under, done := WhileConnected(ctx, s.session())
	defer done()
	var watch *framework.Watch
	alone := false
	if w.of.cfg.Idle > 0 {
		watch = q.alone(under, s)
		alone = watch != nil
	} else {
		names, err := insider.Of(s.terms.Client).Siblings(under, path.Dir(s.nodes[0].Path))
		there, isAlone := standsAlone(path.Base(s.nodes[0].Path), names, s.excluding)
		alone = err == nil && there && isAlone
	}
	q.mu.Lock()
	s.isLooking = false
	switch {
	case alone:
		s.listed = time.Now()
		if watch != nil {
			s.heedLocked(watch)
		}
	case ctx.Err() == nil: // otherwise the next reader looks
		s.closed = true
	}
	q.addFirstLocked(w)
	q.decideLocked() // before another change of the queue has it look again
	q.mu.Unlock()
	return q.settle(w, wait)
}
