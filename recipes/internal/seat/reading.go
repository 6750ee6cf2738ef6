package seat

import (
	"context"
	"path"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
)

// reading is what a seat has that readers share. All who have waited for it get it
// when it is admitted. Others may join its holders for a short time after the queue
// was listed, or as long as a watch has seen no new contender. Then one of them re-reads
// the queue. Nobody joins any more when the listing has a writer: readers who arrive
// later get a seat behind that writer. A writer of this client waits in the line, and
// nobody passes it there. It is protected by lane.mu.
type reading struct {
	seat      *Seat
	listed    time.Time          // when a listing came that had no writer; zero if there is none, or a watch has fired since
	closed    bool               // nobody may join any more
	isLooking bool               // one of the readers looks at the queue
	behind    *framework.Session // in which the driver has seen that others are ahead; or nil
}

// joinsFor is for how long after a listing readers join: so much longer a writer of
// another client may wait.
const joinsFor = 100 * time.Millisecond

// isBlocked reports whether others are ahead of the driver's node. They need not be ahead
// of one in the next session.
func (r *reading) isBlocked() bool { return r.behind != nil && r.behind.Context().Err() == nil }

func (r *reading) isClosed() bool { return r != nil && r.closed }

// isOpen reports whether readers may join without a look.
func (r *reading) isOpen() bool {
	if r == nil || r.closed || !r.seat.isConnected() {
		return false
	}
	return r.seat.parking.isAlone() || time.Since(r.listed) <= joinsFor
}

// letInLocked gives a seat that was just admitted to the readers that have waited for
// it, even if a writer of another client has queued behind its node. That writer waits
// for the slowest of them. If only one got in, a client with a hundred readers would
// wait for a hundred writers.
func (r *reading) letInLocked() {
	if r == nil {
		return
	}
	s, q := r.seat, r.seat.lane
	for w := q.line.first(); w != nil && w.isShared() && s.mayPass(); w = q.line.first() {
		q.sitLocked(w, s)
	}
}

// isShortWaitLocked reports whether a waiter waits for an answer of the server alone,
// as it would for its own: then a try waits, too.
// That is so among readers until they know that others are ahead, or that the server
// cannot answer now.
func (r *reading) isShortWaitLocked(w *waiter) bool {
	if r == nil || !w.isShared() || w.tries && r.seat.lane.outage != nil {
		return false
	}
	if line := r.seat.lane.line; line.hasWriter() && w != line.first() {
		return false
	}
	state := r.seat.State()
	return state == Held || state == Queueing && !r.isBlocked() // Held: one looks, or is about to let all in
}

// turnAwayLocked notes that others are ahead of a seat, as its driver has seen in a
// session, and refuses waiters in the line that must not wait for them.
func (r *reading) turnAwayLocked(in *framework.Session, seen NotAdmitted) {
	if r != nil { // otherwise nobody has waited
		r.behind = in
		r.seat.lane.failLocked(seen, true)
	}
}

// lookAgain re-reads the queue, for a reader, and finds out whether the seat may be
// joined still. The reader goes back to the front of the line then. With a policy that
// parks seats, the listing sets the watch that they need.
func (r *reading) lookAgain(ctx context.Context, w *waiter) *lane {
	s, q := r.seat, r.seat.lane
	under := WhileConnected(ctx, s.client, s.session())
	var watch *framework.Watch
	alone := false
	if w.of.cfg.Idle > 0 {
		watch = watchAlone(under, s)
		alone = watch != nil
	} else {
		names, err := insider.Of(s.client).Siblings(under, path.Dir(s.nodes[0].Path))
		there, isAlone := standsAlone(s, names)
		alone = err == nil && there && isAlone
	}
	q.mu.Lock()
	r.isLooking = false
	switch {
	case alone:
		r.listed = time.Now()
		if watch != nil {
			heedLocked(s, watch)
		}
	case ctx.Err() == nil: // otherwise the next reader looks
		r.closed = true
	}
	q.addFirstLocked(w)
	q.decideLocked() // before another change of the queue has it look again
	q.mu.Unlock()
	return q.settle(w)
}
