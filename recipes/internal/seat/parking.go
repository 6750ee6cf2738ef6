package seat

import (
	"context"
	"path"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/order"
)

// parking keeps a seat in the process while no goroutine holds it. A seat has a parking
// once a policy that parks seats has set a watch on the server's queue. A parked seat
// needs no goroutine: its timer and its watches call unpark, and the session calls lose.
// The mutex lane.mu protects parking.
type parking struct {
	seat   *Seat
	others heard       // the watch on the queue, which fires when another contender arrives
	timer  *time.Timer // unparks the seat when it has been idle for too long; nil before the first parking
	counts bool        // the seat is counted in parkedNow
}

// maxParked is how many seats a process can park. Each seat costs the server a node and
// two watches, and this process some kilobytes.
const maxParked = 1000

// parkedNow is the number of parked seats.
var parkedNow atomic.Int32

// unparkOnLocked makes the event of a watch on the queue unpark the seat. Readers re-read
// the queue before they join, once the watch has fired.
func unparkOnLocked(s *Seat, watch *framework.Watch) {
	if s.parking == nil {
		s.parking = &parking{seat: s}
	} else {
		s.parking.others.forget()
	}
	s.parking.others = heard{watch, watch.AfterFunc(func() { unpark(s) })}
}

// isAlone reports whether no other contender has queued since the watch was set.
func (p *parking) isAlone() bool { return p != nil && !isDone(p.others.watch) }

// parkLocked keeps a seat that is Parked for the next goroutine, for at most idle.
func (p *parking) parkLocked(idle time.Duration) {
	p.seat.contended, p.counts = false, true
	parkedNow.Add(1)
	if p.timer == nil {
		p.timer = time.AfterFunc(idle, func() { unpark(p.seat) })
	} else {
		p.timer.Reset(idle)
	}
}

// stopTimerLocked is called when the seat is taken or vacated.
func (p *parking) stopTimerLocked() {
	if p != nil && p.counts {
		p.counts = false
		parkedNow.Add(-1)
		p.timer.Stop()
	}
}

// forgetLocked is called when the seat is vacated.
func (p *parking) forgetLocked() {
	if p != nil {
		p.stopTimerLocked()
		p.others.forget()
	}
}

// unpark deletes the node of a parked seat, because another contender queues or asks for
// the lock, or the seat was idle for too long. A seat that rests for its minimum hold
// stays. If goroutines hold the lock now, readers re-read the queue before they join.
func unpark(s *Seat) {
	q := s.lane
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.reading != nil {
		s.reading.listed = time.Time{}
	}
	if s.State() == Parked && s.minimum == nil {
		q.unparkLocked(s)
		q.decideLocked()
	}
}

// watchAlone sets a watch on the server's queue for contenders that exclude a seat. It
// returns nil if there already are such contenders, or if the request fails. The request
// ends with ctx, but the watch does not. The watch is never removed: the deletion of the
// node triggers it, which saves a request. Only if the node is already gone does
// watchAlone remove the watch.
func watchAlone(ctx context.Context, s *Seat) *framework.Watch {
	under, answered := beyond(ctx)
	names, _, watch, err := s.client.ChildrenW(under, path.Dir(s.nodes[0].Path))
	if answered(err) != nil {
		return nil
	}
	there, alone := standsAlone(s, names)
	if !there {
		watch.Stop()
	}
	if !alone || !there {
		return nil
	}
	return watch
}

// standsAlone reports whether a listing has the node of a seat, and whether it has no
// node that excludes the seat.
func standsAlone(s *Seat, names []string) (there, alone bool) {
	node := path.Base(s.nodes[0].Path)
	return slices.Contains(names, node), order.IsAlone(node, names, s.excluding...)
}
