package seat

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/identity"
)

// A lock with a minimum hold stays for that long from its grant, also if its
// holder releases it sooner. Nobody gets it meanwhile, and no goroutine of this
// process either. One goroutine owns the node then, and
// deletes it when the time is over. If the client is closed, it leaves the node
// to the servers.

// stayUntil is when the minimum hold is over.
func (h *Hold) stayUntil() time.Time { return h.since.Add(h.policy.MinimumHold) }

// heldFor returns for how long this client has the lock.
func (s *Seat) heldFor() time.Duration { return time.Since(s.granted) }

// holdAtLeast begins the minimum hold, if there is one: the end of the client
// spares the node.
func (q *lane) holdAtLeast(h *Hold) {
	if h.policy.MinimumHold > 0 {
		h.since = time.Now()
		n := h.seat.nodes[0]
		unkeep := insider.Of(h.seat.terms.Client).KeepUntil(n.Session.ID(), n.Path, h.stayUntil())
		q.mu.Lock()
		h.seat.unkeep = unkeep
		q.mu.Unlock()
	}
}

// waive ends the minimum hold of a seat that is Leaving. A client that is closed has
// spared the node already, or is about to.
func (s *Seat) waive() {
	if s.lane == nil || framework.Extend(s.terms.Client).Context().Err() != nil {
		return
	}
	s.lane.mu.Lock()
	unkeep := s.unkeep
	s.lane.mu.Unlock()
	if unkeep != nil {
		unkeep()
	}
}

// mustRest reports whether the minimum hold is not over.
func (h *Hold) mustRest() bool {
	return h.policy.MinimumHold > 0 && time.Now().Before(h.stayUntil())
}

// rest parks a seat for the rest of its minimum hold. It reports false if the
// lock is lost, or if somebody has asked for it: then it goes with the release. An
// interruption does not end it: nobody works under it.
func (s *Seat) rest(h *Hold) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.session().Context()
	if s.watched.asked.on || session.Err() != nil || s.watched.ended {
		return false
	}
	lost := s.state == Lost
	if lost && !reason.Is(context.Cause(s.trusted), framework.ErrSuspended) || !s.becomeLocked(Parked) {
		return false
	}
	s.trusted = session
	s.watched.goOnLocked(lost)
	return s.unseatLocked(h)
}

// rest keeps a released seat until its minimum hold is over.
func (q *lane) rest(ctx context.Context, h *Hold) {
	s := h.seat
	s.forget()
	r := &rest{hold: h}
	defer func() { // also if the user's code panics, such as a context
		if !framework.Extend(s.terms.Client).Go(r.run) { // the client is closed
			q.vacate(s)
		}
	}()
	r.tell(ctx)
}

// rest is a lock that was released, for the rest of its minimum hold.
type rest struct {
	hold   *Hold
	retell func(ctx context.Context) // tells others of the release, if the release itself could not; or nil
}

// tell lets the goroutines of this process and, by the data of the node, all
// others know that the lock was released and stays. Run does the second if this
// release cannot wait for it: its context has ended, or there is no connection. Any
// other error does not matter, because the data is for people. If somebody has
// written the node before, that is a request to give the lock up, which run reads.
// After a lost reply, the write is made again over the same version: it is refused if
// the first one was applied.
func (r *rest) tell(ctx context.Context) {
	h, s := r.hold, r.hold.seat
	q := s.lane
	q.mu.Lock()
	if !q.key.exactData {
		s.terms.Data = identity.Kept(s.terms.Data, h.stayUntil())
	}
	q.noteOursLocked(s)
	q.mu.Unlock()
	if q.key.exactData {
		return
	}
	write := func(ctx context.Context) error {
		const unwritten = 0
		_, err := s.terms.Client.Set(ctx, s.nodes[0].Path, s.terms.Data, unwritten)
		return err
	}
	under, done := h.duringRelease(ctx)
	defer done()
	if err := write(under); err != nil && !framework.IsRefusal(err) {
		recovery := follow.Recovery{Client: s.terms.Client, Ends: framework.IsRefusal}
		r.retell = func(ctx context.Context) { _ = recovery.Until(ctx, write) } // nobody waits to hear why it has ended
	}
}

// run waits until the minimum hold is over, and deletes the node.
func (r *rest) run(ctx context.Context) {
	s := r.hold.seat
	if r.retell != nil {
		waiting, over := context.WithCancel(ctx)
		defer over()
		framework.Extend(s.terms.Client).Go(func(context.Context) { r.retell(waiting) })
	}
	timer := time.NewTimer(time.Until(r.hold.stayUntil()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.Requested():
	case <-s.Over():
	case <-s.session().Context().Done():
		if reason.Is(context.Cause(s.session().Context()), framework.ErrClosed) {
			s.lane.vacate(s)
			return
		}
	case <-ctx.Done():
		s.lane.vacate(s)
		return
	}
	s.retire()
}
