package seat

import (
	"context"
	"path"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
)

// reading is the state of a seat that readers share. All readers that have waited for the
// seat get it when it is admitted. Later readers may join for a short time after the
// queue was listed, or while a watch on the queue has not fired. After that, one reader
// re-reads the queue. If the listing has a writer, no reader joins any more: later
// readers get a seat behind that writer. A writer of this client waits in the line, and
// no reader passes it there. The mutex lane.mu protects reading.
type reading struct {
	seat        *Seat
	listed      time.Time          // when the last listing without a writer arrived; zero once a watch has fired
	closed      bool               // no more readers may join
	isRereading bool               // a reader is reading the queue
	behind      *framework.Session // the session in which the driver has seen contenders ahead; or nil
}

// joinsFor is for how long after a listing readers may join. A writer of another client
// may wait that much longer.
const joinsFor = 100 * time.Millisecond

// isBlocked reports whether other contenders are ahead of the driver's node. After a lost
// session, the new node may have no contenders ahead.
func (r *reading) isBlocked() bool { return r.behind != nil && r.behind.Context().Err() == nil }

func (r *reading) isClosed() bool { return r != nil && r.closed }

// isOpen reports whether readers may join without reading the queue.
func (r *reading) isOpen() bool {
	if r == nil || r.closed || !r.seat.isConnected() {
		return false
	}
	return r.seat.parking.isAlone() || time.Since(r.listed) <= joinsFor
}

// letInLocked gives a seat that was just admitted to all readers that have waited for it,
// even if a writer of another client is queued behind the node. That writer then waits
// for the slowest of them. If only one reader were let in, a client with a hundred
// readers would wait for a hundred writers.
func (r *reading) letInLocked() {
	if r == nil {
		return
	}
	s, q := r.seat, r.seat.lane
	for w := q.line.first(); w != nil && w.isShared() && s.mayPass(); w = q.line.first() {
		q.sitLocked(w, s)
	}
}

// isShortWaitLocked reports whether a waiter waits only for the server's next answer, as
// it would for its own request. In that case a try waits, too. Readers wait like this
// until they know that contenders are ahead, or that the server cannot answer.
func (r *reading) isShortWaitLocked(w *waiter) bool {
	if r == nil || !w.isShared() || w.tries && r.seat.lane.outage != nil {
		return false
	}
	if line := r.seat.lane.line; line.hasWriter() && w != line.first() {
		return false
	}
	state := r.seat.State()
	return state == Held || r.seat.vacates || state == Queueing && !r.isBlocked() // they join soon, or get another seat
}

// turnAwayLocked records that the driver has seen contenders ahead of the seat in a
// session, and refuses tries in the line.
func (r *reading) turnAwayLocked(in *framework.Session, seen NotAdmitted) {
	if r != nil { // otherwise no waiter is affected
		r.behind = in
		r.seat.lane.failLocked(seen, true)
	}
}

// reread re-reads the queue for a reader, and finds out whether readers may still join
// the seat. The reader then goes back to the front of the line. With a policy that parks
// seats, the listing also sets the watch for it.
func (r *reading) reread(ctx context.Context, w *waiter) {
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
	defer q.mu.Unlock()
	r.isRereading = false
	switch {
	case alone:
		r.listed = time.Now()
		if watch != nil {
			unparkOnLocked(s, watch)
		}
	case ctx.Err() == nil: // otherwise the next reader reads the queue
		r.closed = true
	}
	q.returnLocked(w) // before another change makes it read the queue again
}
