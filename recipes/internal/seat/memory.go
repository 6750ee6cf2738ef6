package seat

import (
	"context"

	"github.com/gocurator/curator/internal/reason"
)

// memory is what the goroutines of a lane have seen of the server's queue. An acquire
// that waits in the process makes no request, and a driver may end before it has read the
// queue or the holder's node. Their errors then report what other goroutines of the
// client have seen. The lane's mutex protects memory.
type memory struct {
	seen   NotAdmitted // the server's queue when a driver last had to wait there
	outage error       // why the driver's request failed if the driver waits for the end of an outage, or nil
}

// noteBlocked records the state of the server's queue, seen by the driver that waits
// there.
func (q *lane) noteBlocked(c *contender) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := c.seen
	r.recallHolder(q.seen)
	q.seen = r
	r.Ahead++
	c.waiter.seat.reading.turnAwayLocked(c.node.Session, r)
}

// noteOutage is called with the error of the driver's request when the driver waits for
// the end of an outage, and with nil when the driver continues. Tries then fail with the
// same error at once, as their own requests would.
func (q *lane) noteOutage(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.outage = Settled(err); err != nil {
		q.failLocked(NotAdmitted{Err: q.outage}, true)
	}
}

// standingLocked returns what is known of the server's queue, for a waiting goroutine. The
// argument ours is the number of this client's goroutines ahead of it.
func (q *lane) standingLocked(ours int) NotAdmitted {
	r := q.seen
	for _, s := range q.live {
		if s.hasNodes() {
			r = s.ours()
		}
	}
	r.Ahead = max(ours, q.seen.Ahead+1+ours-len(q.live)) // other contenders may be ahead of the driver at the server
	return r
}

// keepsOutLocked reports whether other contenders exclude a goroutine that has not read
// the queue. Readers with which the goroutine would share the lock do not exclude it.
func (q *lane) keepsOutLocked(w *waiter) bool {
	s := q.seat
	return !w.isShared() || q.line.hasWriter() || s != nil && (s.reading == nil || s.reading.isBlocked())
}

// complete fills in a driver's refusal with what other goroutines have read of the queue. A
// driver that has read nothing is behind all other seats of this client.
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

// refuseGone returns the error of an acquire whose context has ended while it waited in
// the line.
func (q *lane) refuseGone(ctx context.Context, w *waiter) error {
	r := q.leaveLine(w)
	r.Err = reason.OfContext(ctx)
	w.of.noteOutage(ctx, &r) // even if no contender is ahead, because the driver may not have noticed the outage
	return w.of.Refuse(ctx, &r)
}
