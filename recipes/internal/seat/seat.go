package seat

import (
	"context"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/state"
)

// Seat is a client's presence at one lock: a node that queues or holds, or the
// several nodes of a semaphore's leases. A [Hold] is one holder's part of it.
type Seat struct {
	terms
	data    []byte // of the nodes, which describes their owner
	lane    *lane  // where goroutines wait for the seat; nil for a leader and for leases of a semaphore
	nodes   []framework.Created
	one     [1]framework.Created // where nodes are, if there is one
	token   int64                // for fencing: the czxid of the last node, unless the seat goes on for another one
	trusted context.Context      // ends when the session cannot be trusted
	forget  func() bool          // keeps the session from calling trustEnded
	shared  bool                 // its holders hold the lock together, and with others
	state   State                // protected by mu
	spent   atomic.Bool          // the holder has deleted the nodes: the release makes no request

	use // by the goroutines of the client; protected by lane.mu

	mu      sync.Mutex // protects the following fields; it may be locked while lane.mu is
	holds   []*Hold
	first   [1]*Hold // where they are, if there is one
	own     Hold     // the first of all, so that seat and hold are one allocation
	over    signal   // the seat is Kept or Gone
	left    error    // why a node may still exist: the error of the last deletion
	spared  func()   // takes back what keepUntilLocked has done; may be nil
	watched watched
}

// terms are what a seat has of its lock. It does not have the lock itself: many programs
// make an object for each acquire, and a held lock must not keep that in memory.
type terms struct {
	client    *framework.Client
	key       any  // finds the hold in the contexts of its leases
	revocable bool // a request to give the lock up ends the holds

	// A holder does no work, and only waits for something else. Then no error policy makes
	// an interruption end the holds: a waiter keeps its place.
	waits bool
}

// State is where a seat is in its life. The package documentation has the table.
type State uint8

// The states of a seat.
const (
	// Queueing means that the node is in the queue, or is about to be made.
	Queueing State = iota

	// Held means that somebody holds the lock, or has just released it.
	Held

	// Parked means that nobody holds the lock, and that the node stays for the
	// next one, or for the rest of a minimum hold.
	Parked

	// Lost means that the lock is not ours any more. Holders may still be stopping,
	// and the node may exist.
	Lost

	// Leaving means that the node is being deleted.
	Leaving

	// Kept means that the node belongs to the next seat of the same leader.
	Kept

	// Gone means that the node is deleted, or that the client is deleting it.
	Gone
)

// edges are the states that may follow each state.
var edges = [...][]State{
	Queueing: {Held, Gone},
	Held:     {Parked, Lost, Leaving},
	Parked:   {Held, Lost, Leaving},
	Lost:     {Parked, Leaving, Kept}, // Parked: an interruption does not end a minimum hold
	Leaving:  {Gone},
	Kept:     nil,
	Gone:     nil,
}

// becomeLocked moves the seat to a state, and reports whether it did. It does not if
// there is no edge: another transition was first.
func (s *Seat) becomeLocked(next State) bool {
	if !slices.Contains(edges[s.state], next) {
		return false
	}
	s.state = next
	if edges[next] == nil {
		s.over.happen()
	}
	return true
}

func (s *Seat) become(next State) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.becomeLocked(next)
}

// State returns the seat's state.
func (s *Seat) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Over returns a channel that is closed when the seat is Kept or Gone.
func (s *Seat) Over() <-chan struct{} { return s.when(&s.over).Done() }

// newHold returns the hold of nodes that were admitted, on a seat that is in no lane. It
// returns nil if the session was lost, or suspended, between the grant and now; the
// caller has to see to the nodes then.
func newHold(of *Lock, data []byte, own *ownWatch, nodes ...framework.Created) *Hold {
	s := &Seat{terms: of.terms(), data: data}
	return s.admit(nodes, own)
}

// admit makes the seat Held, and returns its first hold. It returns nil if the session
// was lost, or suspended, between the grant and now.
func (s *Seat) admit(nodes []framework.Created, own *ownWatch) *Hold {
	policy := framework.Extend(s.client).ErrorPolicy()
	if s.waits {
		policy = state.SessionPolicy
	}
	session := nodes[0].Session
	trusted := session.Trusted(policy)
	if trusted.Err() != nil {
		return nil
	}
	s.mu.Lock()
	s.trusted, s.nodes = trusted, append(s.one[:0], nodes...)
	if s.token == 0 {
		s.token = nodes[len(nodes)-1].Czxid
	}
	s.becomeLocked(Held)
	h := s.sitLocked()
	s.mu.Unlock()
	s.forget = session.AfterTrust(trusted, func() { s.trustEnded(trusted) })
	s.beginWatch(own)
	return h
}

// sit adds a holder. It returns nil if the seat is lost or given up by now. A seat
// that was Parked is Held again.
func (s *Seat) sit() *Hold {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != Held && !s.becomeLocked(Held) {
		return nil
	}
	return s.sitLocked()
}

func (s *Seat) sitLocked() *Hold {
	h := &s.own
	if h.seat != nil {
		h = &Hold{}
	}
	h.seat, h.shares = s, 1
	h.ctx, h.end = context.WithCancelCause(s.trusted)
	if s.holds == nil {
		s.holds = s.first[:0]
	}
	s.holds = append(s.holds, h)
	return h
}

// park makes a seat Parked that nobody holds. It reports false if the seat was lost just
// now, and goes.
func (s *Seat) park() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == Held && s.becomeLocked(Parked)
}

// unseat takes a holder out, and reports whether it was the last.
func (s *Seat) unseat(h *Hold) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unseatLocked(h)
}

func (s *Seat) unseatLocked(h *Hold) (last bool) {
	if at := slices.Index(s.holds, h); at >= 0 {
		s.holds = slices.Delete(s.holds, at, at+1)
	}
	return len(s.holds) == 0
}

// session returns the session of the nodes.
func (s *Seat) session() *framework.Session { return s.nodes[0].Session }

// Nodes returns the seat's nodes, the oldest first.
func (s *Seat) Nodes() []framework.Created { return s.nodes }

// Token returns the fencing token.
func (s *Seat) Token() int64 { return s.token }

// hasNodes reports whether the lock is the seat's, as far as it knows.
func (s *Seat) hasNodes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isAliveLocked()
}

func (s *Seat) isAliveLocked() bool {
	return (s.state == Held || s.state == Parked) && !s.watched.ended && s.trusted.Err() == nil
}

// isTrustOver reports whether the session has ended the holds, and lose comes next: a
// holder may know that before the lane does.
func (s *Seat) isTrustOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return (s.state == Held || s.state == Parked) && s.trusted.Err() != nil
}

// mayPass reports whether the seat can be given to another goroutine: it is not lost,
// and nobody has asked for the lock.
func (s *Seat) mayPass() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isAliveLocked() && !s.watched.asked.hasHappened()
}

// trustEnded hears from the session that it has ended, after the contexts of all
// leases. It must not block.
func (s *Seat) trustEnded(trusted context.Context) { s.lose(context.Cause(trusted)) }

// lose ends the holds with a cause, unless the seat is lost or given up already. It
// must not block. Whoever waits for the seat has another one. The nodes stay until
// the last holder has stopped: nobody else should hold the lock while one of ours
// still works.
func (s *Seat) lose(cause error) {
	s.mu.Lock()
	// A seat that stays for its minimum hold is trusted as long as its session lives, and an
	// interruption may be told late.
	rests := s.state == Parked && s.trusted == s.session().Context()
	if rests && reason.Is(cause, framework.ErrSuspended) || !s.becomeLocked(Lost) {
		s.mu.Unlock()
		return
	}
	s.spareLocked(cause)
	holds := slices.Clone(s.holds)
	for _, h := range holds {
		h.endLocked(cause)
	}
	s.mu.Unlock()
	s.vacate()
	for _, h := range holds {
		h.tellLoss()
	}
	if len(holds) == 0 {
		s.retire()
	}
}

// spareLocked has Close of the client leave the nodes of a seat that is lost to the
// servers for as long as the safety margin: a holder may still be stopping. It comes
// before the ends of contexts, so that a holder that calls Close at once does not
// come too early. Where the framework ends the contexts itself, Close waits for
// trustEnded.
//
// No node is left to spare if the only one was deleted. Close leaves a session that is
// lost to the servers anyway. A lease that Close itself ends is not spared.
func (s *Seat) spareLocked(cause error) {
	switch {
	case reason.Is(cause, ErrNodeDeleted) && len(s.nodes) == 1,
		reason.Is(cause, framework.ErrSessionLost), reason.Is(cause, framework.ErrClosed),
		!slices.ContainsFunc(s.holds, func(h *Hold) bool { return !reason.Is(context.Cause(h.contextLocked()), ErrReleased) }):
		return
	}
	s.keepUntilLocked(time.Now().Add(s.session().SafetyMargin()))
}

// keepUntilLocked has Close of the client leave the nodes to the servers until a time.
func (s *Seat) keepUntilLocked(until time.Time) {
	for _, n := range s.nodes {
		takeBack, others := insider.Of(s.client).KeepUntil(n.Session.ID(), n.Path, until), s.spared
		s.spared = func() {
			takeBack()
			if others != nil {
				others()
			}
		}
	}
}

// holdersStoppedLocked takes back what keepUntilLocked has done. A client that is closed
// has spared the nodes already, or is about to.
func (s *Seat) holdersStoppedLocked() {
	if s.spared == nil || framework.Extend(s.client).Context().Err() != nil {
		return
	}
	s.spared()
	s.spared = nil
}

// NodeDeleted makes the seat Lost, with ErrNodeDeleted as the cause, unless its holder
// is about to delete the nodes: see Unwatch.
func (s *Seat) NodeDeleted() {
	if s.hasNodes() {
		s.lose(ErrNodeDeleted)
	}
}

// ours describes a seat of ours as the holder.
func (s *Seat) ours() NotAdmitted {
	node := s.nodes[0]
	return NotAdmitted{
		Seen: time.Now(), Ahead: 1,
		Holder: path.Base(node.Path), HolderData: s.data, HolderSession: node.Session.ID(),
	}
}

// retire gives a seat up, lost or not, unless it has holders. It does not wait: the
// client deletes the nodes in the background.
func (s *Seat) retire() {
	s.mu.Lock()
	leaves := len(s.holds) == 0 && s.becomeLocked(Leaving)
	s.mu.Unlock()
	if !leaves {
		return
	}
	s.unwatch()
	if !s.spent.Load() {
		deleteInBackground(s.client, s.nodes)
	}
	s.gone(nil)
	s.vacate()
}

func (s *Seat) unwatch() {
	s.forget()
	s.Unwatch()
}

// gone is the end of a seat. The error says why a node may still exist.
func (s *Seat) gone(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = err
	s.holdersStoppedLocked()
	s.becomeLocked(Gone)
}

// vacate lets the next goroutine have another seat, if goroutines wait for this one.
func (s *Seat) vacate() {
	if s.lane != nil {
		s.lane.vacate(s)
	}
}

func deleteInBackground(c *framework.Client, nodes []framework.Created) {
	for _, n := range nodes {
		framework.Extend(c).DeleteInBackground(n.Path)
	}
}
