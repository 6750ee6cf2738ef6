package seat

import (
	"context"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/order"
)

// parking is what a seat needs that stays in the process when it is released. A watch
// on the server's queue tells of others. No parked seat has a goroutine: its timer
// and its watches call unpark, and the session calls lose. It is protected by
// lane.mu.
type parking struct {
	parks  bool        // of a lock that some share, readers alone are kept
	rests  bool        // it stays for its minimum hold, and nobody gets it
	unkeep func()      // the end of the client need not spare the node any more; may be nil
	others heard       // of others in the queue; without a watch if none was set
	timer  *time.Timer // unparks the seat when it was idle for too long; nil before that
}

// mayPark reports whether the policy lets the seat stay in the process.
func (h *Hold) mayPark() bool {
	s := h.seat
	return h.policy.Idle > 0 && s.turns <= h.policy.MaxReuses &&
		!s.contended && s.parks && s.mayPass() && s.isConnected()
}

// mayParkLocked reports whether nobody else wants the lock, as far as this client has
// heard.
func (s *Seat) mayParkLocked() bool { return s.others.watch != nil && !s.othersCame() && !s.closed }

// mustHeed reports whether the last holder's release must set the watch on the queue,
// because the seat could be parked then.
func (q *lane) mustHeed(h *Hold) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := h.seat
	return h.mayPark() && s.others.watch == nil && !s.closed && s.isLast()
}

// othersCame reports whether somebody else may have queued since the watch was set.
func (s *Seat) othersCame() bool {
	return s.others.watch != nil && isDone(s.others.watch)
}

// heedOthers looks at the queue with a watch, before a seat may be parked. The watch
// also fires for those that have gone again: they have found the lock held.
func (q *lane) heedOthers(ctx context.Context, h *Hold) {
	under, done := h.duringRelease(ctx)
	defer done()
	if watch := q.alone(under, h.seat); watch != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		h.seat.heedLocked(watch)
	}
}

// heedLocked has a parked seat given up when a watch on the queue fires, and readers
// look again before they join.
func (s *Seat) heedLocked(watch *framework.Watch) {
	if s.others.watch != nil {
		s.others.forget()
	}
	s.others = heard{watch, watch.AfterFunc(func() { s.lane.hearOfOthers(s) })}
}

func (q *lane) hearOfOthers(s *Seat) {
	q.mu.Lock()
	s.listed = time.Time{}
	q.mu.Unlock()
	q.unpark(s)
}

// alone watches the server's queue for those that want the lock alone, or for all
// others if nobody shares it. The watch is nil if there are some, or no answer. The
// request ends with ctx. The watch does not, and nobody stops it: the deletion of the
// node makes it fire, which saves a request. If the node is gone already, alone stops
// the watch.
func (q *lane) alone(ctx context.Context, s *Seat) *framework.Watch {
	var names []string
	node := s.nodes[0]
	watch, err := watchBeyond(ctx, func(under context.Context) (w *framework.Watch, err error) {
		names, _, w, err = s.terms.Client.ChildrenW(under, path.Dir(node.Path))
		return w, err
	})
	name := path.Base(node.Path)
	there, alone := standsAlone(name, names, s.excluding)
	switch {
	case err != nil:
		return nil
	case !there:
		watch.Stop()
		return nil
	case !alone:
		return nil
	}
	return watch
}

// parkLocked keeps a seat that is Parked for the next goroutine, for a time. If the
// client has too many, the one that was idle for the longest time goes.
func (q *lane) parkLocked(s *Seat, idle time.Duration) {
	s.contended = false
	q.noteOursLocked(s)
	if s.timer == nil {
		s.timer = time.AfterFunc(idle, func() { q.unpark(s) })
	} else {
		s.timer.Reset(idle)
	}
	if evicted := parked.add(s); evicted != nil {
		go evicted.lane.unpark(evicted) // its lane's mutex may not be locked while this one is
	}
}

// stopTimerLocked is for a seat that is taken, or given up.
func (s *Seat) stopTimerLocked() {
	if s.timer != nil {
		s.timer.Stop()
		parked.remove(s)
	}
}

// unpark gives a parked seat up. It does nothing if somebody has the lock by now.
func (q *lane) unpark(s *Seat) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.State() == Parked && !s.rests {
		q.unparkLocked(s)
		q.decideLocked()
		q.finishLocked()
	}
}

func (q *lane) unparkLocked(s *Seat) {
	q.vacateLocked(s)
	if s.become(Leaving) {
		s.unwatch()
		deleteInBackground(s.terms.Client, s.nodes)
		s.gone(nil)
	}
}

// maxParked is how many parked seats a client keeps. Each costs the server a node and
// two watches, and this process some kilobytes.
const maxParked = 1000

// parked are the parked seats of all clients of this process.
var parked = parkedSeats{byClient: map[framework.Extension][]*Seat{}}

// parkedSeats has the parked seats of each client, the longest idle first, until that is
// closed. Its mutex may be locked while a lane's is.
type parkedSeats struct {
	mu       sync.Mutex // protects the following field
	byClient map[framework.Extension][]*Seat
}

// add adds a seat. If its client has too many now, add takes out the one that has been
// idle for the longest time, and returns it.
func (p *parkedSeats) add(s *Seat) (evicted *Seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	client := s.lane.key.client
	all, known := p.byClient[client]
	if !known {
		context.AfterFunc(client.Context(), func() { p.forget(client) })
	}
	if len(all) == maxParked {
		evicted = all[0]
		all = slices.Delete(all, 0, 1)
	}
	p.byClient[client] = append(all, s)
	return evicted
}

// remove takes a seat out, unless add has done so.
func (p *parkedSeats) remove(s *Seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	client := s.lane.key.client
	if at := slices.Index(p.byClient[client], s); at >= 0 {
		p.byClient[client] = slices.Delete(p.byClient[client], at, at+1)
	}
}

func (p *parkedSeats) forget(client framework.Extension) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byClient, client)
}

// standsAlone reports whether a listing has a node, and none of these kinds beside it.
func standsAlone(node string, names, kinds []string) (there, alone bool) {
	for _, name := range names {
		there = there || name == node
	}
	return there, order.IsAlone(node, names, kinds...)
}
