package seat

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// memory is what the goroutines of a lane have seen. An acquire that waits in the
// process makes no request, and a driver may end before it has seen the queue, or the
// data of the holder's node. Their errors say what others of the client have seen.
// It is protected by the lane's mutex.
type memory struct {
	seen      NotAdmitted // the server's queue as a goroutine of the lane saw it last
	lastError error       // the last error that the driver has retried after, or nil
	outage    error       // why a request of the driver has failed that waits for the end of an outage, or nil
}

// noteBlocked records the state of the server's queue, as the driver has seen it that
// waits there.
func (q *lane) noteBlocked(w *waiter, r NotAdmitted) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r.RecallHolder(q.seen)
	q.seen = r
	w.seat.reading.turnAwayLocked(r, r.Ahead+1)
}

// noteAnew is called when a driver lost its node: others need not be ahead of the next.
func (q *lane) noteAnew(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r := w.seat.reading; r != nil {
		r.isBlocked = false
	}
}

// noteOutage is called when the driver waits for the end of an outage, with the error of
// its request, and with nil when it goes on. Tries fail with that error at once, as they
// would have with requests of their own.
func (q *lane) noteOutage(err error) {
	var op *framework.OpError
	if reason.As(err, &op) {
		err = op.Err // a try may have another view of the client, with other paths
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.outage = Settled(err); err != nil {
		q.failLocked(NotAdmitted{Err: q.outage}, func(w *waiter) bool { return w.tries })
	}
}

// noteBeyond records another queue that the lock's holder waits in, for the errors of
// goroutines that wait for the lock. The zero value says that the holder does not wait
// any more.
func (q *lane) noteBeyond(r NotAdmitted) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r.RecallHolder(q.seen)
	q.seen = r
}

// noteOursLocked records that a seat of ours has the lock.
func (q *lane) noteOursLocked(s *Seat) { q.seen, q.lastError = s.ours(), nil }

// forgetLocked drops the state of the queue if a seat of ours has the lock there:
// the node is given up. Another of ours may share the lock.
func (q *lane) forgetLocked(s *Seat) {
	if q.line.len() == 0 {
		q.lastError = nil
	}
	if len(s.nodes) == 0 || q.seen.Holder != s.ours().Holder {
		return
	}
	q.seen = NotAdmitted{}
	for _, other := range q.live {
		if other.hasNodes() {
			q.noteOursLocked(other)
		}
	}
}

// standingBehind returns what is known of the server's queue, for a goroutine that has
// some of its client ahead in the lane, and why it must not wait for them.
func (q *lane) standingBehind(w *waiter, ours int) NotAdmitted {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.seen
	r.Ahead = max(ours, r.Ahead)
	if s := q.seat; s != nil && s.driver != nil { // others may be ahead of the driver at the server
		r.Ahead = max(ours, q.seen.Ahead+1+ours-len(q.live))
	}
	if r.Seen.IsZero() {
		r.Err = q.outage
	}
	return r
}

// keepsOutLocked reports whether others keep a goroutine out that waits here, and has not
// seen the queue. Readers that it would share the lock with do not.
func (q *lane) keepsOutLocked(w *waiter) bool {
	s := q.seat
	return !w.isShared() || q.line.alone > 0 || s != nil && (s.reading == nil || s.reading.isBlocked)
}

// complete adds to the refusal of a driver what others have seen. A driver that had no
// node yet is behind all others of ours. But a reader that would share the lock with them
// is not kept out by them.
func (q *lane) complete(r *NotAdmitted, w *waiter, queued bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if in := w.seat.reading; in != nil && r.Seen.IsZero() && !in.isBlocked {
		return
	}
	r.Recall(q.seen)
	if !queued {
		r.Ahead = max(r.Ahead, len(q.live)-1)
	}
}

// noteError records an error that the driver has retried after, or nil when a request
// has succeeded. Goroutines behind the driver make no requests, so that they meet no
// errors themselves. The end of the driver's ctx does not concern them.
func (q *lane) noteError(ctx context.Context, err error) {
	if reason.IsOfContext(ctx, err) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lastError = err
}

// refuseGone returns the error of an acquire whose context has ended while it waited
// in the line.
func (q *lane) refuseGone(ctx context.Context, w *waiter) error {
	var r NotAdmitted
	if ahead := q.leave(ctx, w); ahead > 0 {
		r = q.standingBehind(w, ahead)
	}
	r.Err = ErrorOf(ctx, reason.OfContext(ctx), w.lastError)
	w.of.noteOutage(ctx, &r) // even if no contender is ahead: the driver may not have noticed
	return w.of.Refuse(ctx, &r)
}
