package seat

import (
	"context"
	"slices"
	"sync"
)

// lane is where the goroutines of a client that want the same lock meet. The goroutines
// take turns in the order of their arrival, and have one seat at a time. decideLocked
// gives the seat to the next goroutine, and decideRelease may hand a released seat on. A
// lane has no options: each acquire uses the options of its lock object.
type lane struct {
	in   *laneSet // finds the lane by its key until the lane is over
	key  laneKey
	next *lane // another lane of the same lock, or nil; protected by in.mu

	mu     sync.Mutex // protects the following fields
	over   bool       // the lane is not in use, and later arrivals get another lane
	called int32      // the waiters with the role sits or rereads that have not run yet
	line   line       // the waiting goroutines
	seat   *Seat      // the seat for which they wait, or nil
	live   []*Seat    // all seats that are not lost or gone, including a downgraded reader's
	one    [1]*Seat   // backing array of live for a single seat
	own    Seat       // the first seat, so that lane and seat are one allocation
	memory
}

// role is what a waiter does next.
type role uint8

const (
	waits   role = iota // it waits for another role
	drives              // it gets a node for the seat admitted
	rereads             // it finds out whether readers may still join the seat
	sits                // it has a hold
	fails               // the driver before it was refused, for a reason that affects all
)

// waiter is a goroutine that wants the lock.
type waiter struct {
	of     *Lock
	role   role
	tries  bool          // it must not wait for other contenders
	ready  chan struct{} // closed when the waiter has another role; nil if it need not wait. Only the waiter sets it
	seat   *Seat         // for drives and rereads
	hold   *Hold         // for sits
	failed *NotAdmitted  // for fails
}

func (w *waiter) isShared() bool { return w.of.isShared() }

// serve follows the waiter's roles until the waiter has a hold or an error.
func (q *lane) serve(ctx context.Context, a Attempt, w *waiter, ahead int) (h *Hold, err error) {
	defer func() {
		if h == nil && err == nil { // a hook or an ACL provider has panicked
			q.leaveLine(w)
		}
	}()
	for {
		if err := q.wait(ctx, a, w, ahead); err != nil {
			return nil, err
		}
		switch {
		case w.role == drives:
			return q.drive(ctx, a, w)
		case w.role == fails:
			return nil, w.of.Refuse(ctx, w.failed)
		case ctx.Err() != nil:
			return nil, q.refuseGone(ctx, w)
		case w.role == rereads:
			w.seat.reading.reread(ctx, w)
		case !w.hold.isTrusted() || w.hold.seat.isRequested():
			q.sendBack(w)
		default:
			q.mu.Lock()
			q.ranLocked(w)
			q.mu.Unlock()
			w.hold.handedOver = true
			holdAtLeast(w.hold)
			return w.hold, nil
		}
	}
}

// wait waits in the line for a role, unless the waiter has one.
func (q *lane) wait(ctx context.Context, a Attempt, w *waiter, ahead int) error {
	if w.ready == nil {
		return nil
	}
	a.Trace.QueuedLocally(ahead)
	select {
	case <-w.ready:
		w.ready = nil
		return nil
	case <-ctx.Done():
		return q.refuseGone(ctx, w)
	}
}

// take gives a waiter a hold, and sets the policy for the hold's end.
func (w *waiter) take(h *Hold) {
	h.policy = w.of.cfg.Policy
	w.hold = h
}

// addLocked adds a waiter to the line, unless it is served at once. It returns how many
// goroutines of this client are ahead.
func (q *lane) addLocked(w *waiter) (ahead int) {
	ahead = len(q.live) + len(q.line)
	for len(q.line) == 0 && w.role == waits && q.serveLocked(w) {
	}
	if w.role == waits {
		q.line = append(q.line, w)
		q.beginWaitLocked(w, ahead)
	}
	return ahead
}

// beginWaitLocked starts the wait of a waiter in the line, with ahead goroutines of this
// client before it. If the waiter must not wait for other contenders, it is refused.
func (q *lane) beginWaitLocked(w *waiter, ahead int) {
	if w.tries && (q.seat == nil || !q.seat.reading.isShortWaitLocked(w)) {
		q.line.remove(w)
		seen := q.standingLocked(ahead)
		if seen.Seen.IsZero() {
			seen.Err = q.outage
		}
		w.role, w.failed = fails, &seen
	} else {
		w.ready = make(chan struct{})
	}
}

// decideLocked gives the first waiters their roles, by serveLocked. It is called after
// every change of the line and of the seat. Six other functions give waiters a role at
// the moment of a change: addLocked serves a waiter that arrives at an empty line,
// decideRelease hands the seat on, letInLocked lets readers in together with the admitted
// one, driveNextLocked leaves a queued node to the next driver, and failLocked and
// turnAwayLocked refuse waiters anywhere in the line.
func (q *lane) decideLocked() {
	for w := q.line.first(); w != nil && q.serveLocked(w); w = q.line.first() {
	}
	if q.seat == nil && len(q.live) == 0 && len(q.line) == 0 && !q.over { // no longer in use
		q.over = true
		q.in.remove(q)
	}
}

// serveLocked gives the first waiter a role, or lets it wait. It returns true if there
// may be more to decide.
func (q *lane) serveLocked(w *waiter) bool {
	s := q.seat
	if s == nil {
		s = q.newSeatLocked(w.of)
		s.driver = w
		q.giveLocked(w, drives)
		return false
	}
	switch state := s.State(); {
	case state == Lost, s.vacates, s.isTrustOver(): // holders may notice the loss before the lane does
		return q.vacateLocked(s)
	case q.maySitLocked(w, s, state):
		q.sitLocked(w, s)
	case state == Parked && s.minimum == nil: // the seat is of the other kind, or not trusted
		q.unparkLocked(s)
	case state != Held || s.reading == nil || !w.isShared() || s.reading.isRereading:
		return false
	case s.reading.closed || s.isRequested():
		q.seat = nil // its holders keep it, but no more readers join
	default:
		s.reading.isRereading = true
		q.giveLocked(w, rereads)
		return false
	}
	return true
}

// maySitLocked reports whether a waiter gets the seat without a request: the seat is
// idle, or readers hold it and the queue was just listed.
func (q *lane) maySitLocked(w *waiter, s *Seat, state State) bool {
	switch {
	case s.shared != w.isShared() || s.minimum != nil || !s.mayPass():
		return false
	case state == Parked:
		return s.parking.isAlone()
	default:
		return state == Held && s.reading.isOpen()
	}
}

// giveLocked removes a waiter from the line, and gives it a role.
func (q *lane) giveLocked(w *waiter, r role) {
	q.line.remove(w)
	w.role, w.seat = r, q.seat
	if r == sits || r == rereads {
		q.called++
	}
	if w.ready != nil {
		close(w.ready)
	}
}

// ranLocked is called when a waiter with the role sits or rereads has run.
func (q *lane) ranLocked(w *waiter) {
	if w.seat != nil {
		w.seat = nil
		q.called--
		q.removeVacatedLocked()
	}
	q.decideLocked()
}

// sitLocked gives a waiter a hold on a seat. If the seat has just been lost, the waiter
// gets another one.
func (q *lane) sitLocked(w *waiter, s *Seat) {
	if s.State() == Parked || !s.shared {
		s.turns++
		s.contended = false
	}
	h := s.sit()
	if h == nil {
		q.vacateLocked(s)
		return
	}
	s.parking.stopTimerLocked()
	w.take(h)
	q.giveLocked(w, sits)
}

func (q *lane) newSeatLocked(of *Lock) *Seat {
	s := &q.own
	if s.lane != nil {
		s = &Seat{}
	}
	s.lane, s.shared = q, of.isShared()
	s.excluding, s.parks = of.excluding(), of.cfg.Readers == "" || s.shared
	if s.shared {
		s.reading = &reading{seat: s}
	}
	if q.seat = s; q.live == nil {
		q.live = q.one[:0]
	}
	q.live = append(q.live, s)
	return s
}

// vacateLocked removes the seat from the lane, and returns true. It returns false as long
// as waiters that were called have not run: they may come back, and no waiter in the line
// must pass them.
func (q *lane) vacateLocked(s *Seat) bool {
	s.vacates = true
	s.parking.forgetLocked()
	return q.removeVacatedLocked()
}

func (q *lane) removeVacatedLocked() bool {
	if q.called > 0 {
		return false
	}
	if q.seat != nil && q.seat.vacates {
		q.seat = nil
	}
	q.live = slices.DeleteFunc(q.live, func(s *Seat) bool { return s.vacates })
	return true
}

// unparkLocked deletes the node of a parked seat.
func (q *lane) unparkLocked(s *Seat) {
	q.vacateLocked(s)
	s.deleteInBackground()
}

// leaveLine removes a waiter that gives up, and returns what is known of the queue if
// other contenders were ahead. The waiter does not keep what it got meanwhile: a queued
// node goes to the next waiter if that would create the same node, and a held lock is
// released.
func (q *lane) leaveLine(w *waiter) (seen NotAdmitted) {
	q.mu.Lock()
	r := w.role
	switch r {
	case waits:
		if q.keepsOutLocked(w) {
			seen = q.standingLocked(len(q.live) + q.line.before(w))
		}
		q.line.remove(w)
	case rereads:
		w.seat.reading.isRereading = false
		fallthrough
	case sits:
		q.ranLocked(w)
	}
	w.role = fails
	q.decideLocked() // for the waiters behind it
	q.mu.Unlock()
	switch r {
	case drives:
		q.stopDriving(w)
	case sits:
		w.hold.discard()
	}
	return seen
}

// sendBack ends a hold that its taker cannot trust. The taker gets the next seat.
func (q *lane) sendBack(w *waiter) {
	h := w.hold
	h.dropShares()
	h.releaseInBackground(ErrReleased)
	q.mu.Lock()
	defer q.mu.Unlock()
	if r := h.seat.reading; r != nil {
		r.closed = true
	}
	q.returnLocked(w)
}

// returnLocked puts a waiter that had a role at the front of the line, and serves it.
func (q *lane) returnLocked(w *waiter) {
	q.line = slices.Insert(q.line, 0, w)
	w.role, w.hold, w.ready = waits, nil, nil
	if q.ranLocked(w); w.role == waits {
		q.beginWaitLocked(w, len(q.live))
	}
}

// outcome is what happens to a seat when a hold on it ends.
type outcome uint8

const (
	stays outcome = iota // it has other holders, was handed on, or is parked
	rests                // no goroutine gets it until its minimum hold is over
	ends                 // its nodes are deleted
)

// decideRelease ends a hold, and decides what happens to its seat. The first case that is
// true counts: the seat rests for its minimum hold, has other holders, goes to the client's
// next goroutine, or is parked. In every other case, the seat ends.
func (q *lane) decideRelease(h *Hold) outcome {
	s := h.seat
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.minimum.begin() {
		return rests
	}
	if !s.unseat(h) {
		return stays
	}
	next := q.line.first()
	switch {
	case !s.mayPass():
	case next != nil && !s.shared && !next.isShared() && (h.mayHandOn() || h.mayPark() && s.parking.isAlone()):
		q.sitLocked(next, s)
		return stays
	case next == nil && parkedNow.Load() < maxParked && h.mayPark() && s.parking.isAlone() && s.park():
		s.parking.parkLocked(h.policy.Idle)
		return stays
	}
	s.become(Deleting)
	return ends
}
