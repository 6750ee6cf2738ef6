package seat

import (
	"context"

	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/reason"
)

// memory is what the goroutines of a lane have seen. An acquire that waits in the
// process makes no request, and one at the server may end before it has seen the
// queue, or the data of the holder's node. Their errors say what others have seen.
// It is protected by the lane's mutex.
type memory struct {
	seen     NotAdmitted  // the server's queue as one of us saw it last
	keepsOut bool         // that queue keeps those out, too, that share the lock
	beyond   *NotAdmitted // the queue that the holder is in, as it saw that last; may be nil
	trouble  error        // the last error that the driver has outlasted, or nil
}

// noteBlocked records the state of the server's queue, as the driver has seen it that
// waits there.
func (q *lane) noteBlocked(w *waiter, r NotAdmitted) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r.RecallHolder(q.seen)
	q.seen, q.keepsOut = r, w.isShared() || !w.of.isReader(r.Holder)
	w.seat.reading.turnAwayLocked(r, r.Ahead+1)
}

// noteOursLocked records that a seat of ours has the lock.
func (q *lane) noteOursLocked(s *Seat) {
	q.seen, q.keepsOut = s.ours(), !s.shared
	q.trouble = nil
}

// forgetLocked drops the state of the queue if a seat of ours has the lock there:
// the node is given up. Another of ours may share the lock.
func (q *lane) forgetLocked(s *Seat) {
	if q.line.len() == 0 {
		q.trouble = nil
	}
	if len(s.nodes) == 0 || q.seen.Holder != s.ours().Holder {
		return
	}
	q.seen, q.keepsOut = NotAdmitted{}, false
	for _, other := range q.live {
		if other.hasNodes() {
			q.noteOursLocked(other)
		}
	}
}

// standing returns the newest that is known of the server's queue.
func (q *lane) standing() NotAdmitted {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.standingLocked()
}

func (q *lane) standingLocked() NotAdmitted {
	switch {
	case !q.seen.Seen.IsZero():
		return q.seen
	case q.beyond != nil:
		return *q.beyond
	}
	return NotAdmitted{}
}

// standingBehind is standing for a goroutine that has some of its client ahead in the
// lane. A driver of theirs may have others ahead, whom it saw at the server.
func (q *lane) standingBehind(ours int) NotAdmitted {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.standingLocked()
	r.Ahead = q.aheadLocked(ours)
	return r
}

func (q *lane) aheadLocked(ours int) int {
	if s := q.seat; s != nil && s.driver != nil {
		return max(ours, q.seen.Ahead+1+ours-len(q.live))
	}
	return max(ours, q.standingLocked().Ahead)
}

// keepsOutLocked reports whether others keep one out that waits here, and has not
// seen the queue. Readers that it would share the lock with do not.
func (q *lane) keepsOutLocked(w *waiter) bool {
	return !w.isShared() || q.keepsOut || q.line.alone > 0 || q.seat != nil && !q.seat.shared
}

// standingOf returns the place of a waiter now. That is at least what one of
// ours has seen of the server's queue, and where the waiter is among ours.
func (q *lane) standingOf(w *waiter) flight.Standing {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.keepsOutLocked(w) {
		return flight.Standing{}
	}
	seen := q.standingLocked()
	at := flight.Standing{
		Seen: seen.Seen, Ahead: seen.Ahead,
		Holder: flight.Contender{Node: seen.Holder, Data: seen.HolderData, Since: seen.HolderSince},
	}
	if before := q.line.before(w); before >= 0 {
		at.Ahead = q.aheadLocked(len(q.live) + before)
	}
	return at
}

// complete adds to the refusal of a driver what others have seen. One that had no
// node yet is behind all others of ours. But one that would share the lock with them
// is not kept out by them.
func (q *lane) complete(r *NotAdmitted, w *waiter, queued bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.isShared() && r.Seen.IsZero() && !q.keepsOut {
		return
	}
	r.Recall(q.standingLocked())
	if !queued {
		r.Ahead = max(r.Ahead, len(q.live)-1)
	}
}

// noteTrouble records an error that the driver has outlasted, or with nil that all is
// well for it. Those behind it make no requests, so that they meet no trouble
// themselves. The end of its own ctx is none of theirs.
func (q *lane) noteTrouble(ctx context.Context, err error) {
	if reason.IsOfContext(ctx, err) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.trouble = err
}

// refuseGone returns the error of an acquire whose context has ended while it waited
// in the line.
func (q *lane) refuseGone(ctx context.Context, w *waiter) error {
	var r NotAdmitted
	if ahead := q.leave(ctx, w); ahead > 0 {
		r = q.standingBehind(ahead)
	}
	r.Err = ErrorOf(ctx, reason.OfContext(ctx), w.trouble)
	w.of.noteOutage(ctx, &r) // also if nobody is ahead: the driver may not have noticed
	return w.of.Refuse(ctx, &r)
}
