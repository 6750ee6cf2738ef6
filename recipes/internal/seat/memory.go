package seat

import (
	"context"

	"github.com/gocurator/curator/internal/reason"
)

// memory is what the goroutines of a lane have seen. An acquire that waits in the
// process makes no request, and a driver may end before it has seen the queue, or the
// data of the holder's node. Their errors say what others of the client have seen.
// It is protected by the lane's mutex.
type memory struct {
	seen   NotAdmitted // the server's queue as the last driver saw it that had to wait there
	outage error       // why a request of the driver has failed that waits for the end of an outage, or nil
}

// noteBlocked records the state of the server's queue, as the driver has seen it that
// waits there.
func (q *lane) noteBlocked(c *contender) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := c.seen
	r.recallHolder(q.seen)
	q.seen = r
	r.Ahead++
	c.waiter.seat.reading.turnAwayLocked(c.node.Session, r)
}

// noteOutage is called when the driver waits for the end of an outage, with the error of
// its request, and with nil when it goes on. Tries fail with that error at once, as they
// would have with requests of their own.
func (q *lane) noteOutage(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.outage = Settled(err); err != nil {
		q.failLocked(NotAdmitted{Err: q.outage}, true)
	}
}

// standingLocked returns what is known of the server's queue, for a goroutine that has
// so many of its client ahead.
func (q *lane) standingLocked(ours int) NotAdmitted {
	r := q.seen
	for _, s := range q.live {
		if s.hasNodes() {
			r = s.ours()
		}
	}
	r.Ahead = max(ours, q.seen.Ahead+1+ours-len(q.live)) // others may be ahead of the driver at the server
	return r
}

// keepsOutLocked reports whether others keep a goroutine out that has not seen the
// queue. Readers that it would share the lock with do not.
func (q *lane) keepsOutLocked(w *waiter) bool {
	s := q.seat
	return !w.isShared() || q.line.hasWriter() || s != nil && (s.reading == nil || s.reading.isBlocked())
}

// complete adds to the refusal of a driver what others have seen. A driver that has seen
// nothing is behind all others of ours.
func (q *lane) complete(r *NotAdmitted, w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case !r.Seen.IsZero():
		r.recallHolder(q.seen)
	case q.keepsOutLocked(w):
		known := q.standingLocked(len(q.live) - 1)
		known.Err = r.Err
		*r = known
	}
}

// refuseGone returns the error of an acquire whose context has ended while it waited
// in the line.
func (q *lane) refuseGone(ctx context.Context, w *waiter) error {
	r := q.leave(w)
	r.Err = reason.OfContext(ctx)
	w.of.noteOutage(ctx, &r) // even if no contender is ahead: the driver may not have noticed
	return w.of.Refuse(ctx, &r)
}
