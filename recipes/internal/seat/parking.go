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

// parking lets a seat stay in the process while no goroutine holds it. A seat has it
// from the moment on at which a policy that parks seats has set a watch on the server's
// queue. No parked seat has a goroutine: its timer and its watches call unpark, and the
// session calls lose. It is protected by lane.mu.
type parking struct {
	seat   *Seat
	others heard       // the watch on the queue, which fires when another contender arrives
	timer  *time.Timer // unparks the seat when it was idle for too long; nil before that
	counts bool        // parkedNow counts the seat
}

// maxParked is how many seats a process parks at most. Each costs the server a node and
// two watches, and this process some kilobytes.
const maxParked = 1000

// parkedNow is how many seats are parked.
var parkedNow atomic.Int32

// heedLocked has a parked seat given up when a watch on the queue fires, and readers
// re-read the queue before they join.
func heedLocked(s *Seat, watch *framework.Watch) {
	if s.parking == nil {
		s.parking = &parking{seat: s}
	} else {
		s.parking.others.forget()
	}
	s.parking.others = heard{watch, watch.AfterFunc(func() { unpark(s) })}
}

// isAlone reports whether no other contender has queued since the watch was set.
func (p *parking) isAlone() bool { return p != nil && !isDone(p.others.watch) }

// parkLocked keeps a seat that is Parked for the next goroutine, for a time.
func (p *parking) parkLocked(idle time.Duration) {
	p.seat.contended, p.counts = false, true
	parkedNow.Add(1)
	if p.timer == nil {
		p.timer = time.AfterFunc(idle, func() { unpark(p.seat) })
	} else {
		p.timer.Reset(idle)
	}
}

// stopTimerLocked is for a seat that is taken, or given up.
func (p *parking) stopTimerLocked() {
	if p != nil && p.counts {
		p.counts = false
		parkedNow.Add(-1)
		p.timer.Stop()
	}
}

// forgetLocked is for a seat that is vacated.
func (p *parking) forgetLocked() {
	if p != nil {
		p.stopTimerLocked()
		p.others.forget()
	}
}

// unpark gives a parked seat up, unless it stays for its minimum hold. If goroutines have
// the lock by now, readers re-read the queue before they join.
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
		q.finishLocked()
	}
}

// watchAlone watches the server's queue for contenders that exclude a seat. The watch is
// nil if there are some, or no answer. The request ends with ctx. The watch does not,
// and nobody stops it: the deletion of the node makes it fire, which saves a request. If
// the node is gone already, watchAlone stops the watch.
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

// standsAlone reports whether a listing has the node of a seat, and none that excludes it.
func standsAlone(s *Seat, names []string) (there, alone bool) {
	node := path.Base(s.nodes[0].Path)
	return slices.Contains(names, node), order.IsAlone(node, names, s.excluding...)
}
