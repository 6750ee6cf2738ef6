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

// Seat is a client's presence at one lock: a node that is queued or holds the lock, or
// the several nodes of a semaphore's leases. A [Hold] is one holder's part of a seat.
type Seat struct {
	terms
	data    []byte // the data of the nodes, which describes their owner
	lane    *lane  // where goroutines wait for the seat; nil for leaders and leases of semaphores
	nodes   []framework.Created
	one     [1]framework.Created // backing array of nodes for a single node
	token   int64                // for fencing: the czxid of the last node, or the replaced seat's token
	trusted context.Context      // ends when the session can no longer be trusted
	forget  func() bool          // stops the session from calling trustEnded
	shared  bool                 // its holders share the lock with other readers
	state   State                // protected by mu
	spent   atomic.Bool          // the holder has deleted the nodes, and a release makes no request

	use // by the goroutines of the client; protected by lane.mu

	mu      sync.Mutex // protects the following fields; may be locked under lane.mu
	holds   []*Hold
	first   [1]*Hold // backing array of holds for a single hold
	own     Hold     // the first hold, so that seat and hold are one allocation
	over    signal   // the seat is Kept or Gone
	left    error    // why a node may still exist: the error of the last deletion
	spared  func()   // undoes keepUntilLocked; may be nil
	watched watched
}

// terms are what a seat needs of its lock. It does not refer to the lock itself: many
// programs create a lock object for each acquire, and a held lock must not keep the
// object in memory.
type terms struct {
	client    *framework.Client
	key       any  // the key of the hold in the contexts of its leases
	revocable bool // a request to give the lock up ends the holds

	// A holder does no work, and only waits for another event. Then an interruption never
	// ends the holds, whatever the error policy: a waiter keeps its place.
	waits bool
}

// State is the state of a seat. The package documentation has the table.
type State uint8

// The states of a seat.
const (
	// Queueing means that the node is in the queue, or is about to be created.
	Queueing State = iota

	// Held means that a goroutine holds the lock, or has just released it.
	Held

	// Parked means that no goroutine holds the lock, and that the node stays for the next
	// goroutine or for the rest of a minimum hold.
	Parked

	// Lost means that this client has lost the lock. Holders may still be stopping, and
	// the node may exist.
	Lost

	// Deleting means that the node is being deleted.
	Deleting

	// Kept means that the node belongs to the next seat of the same leader.
	Kept

	// Gone means that the node is deleted, or that the client is deleting it.
	Gone
)

// edges are the states that can follow each state.
var edges = [...][]State{
	Queueing: {Held, Gone},
	Held:     {Parked, Lost, Deleting},
	Parked:   {Held, Lost, Deleting},
	Lost:     {Parked, Deleting, Kept}, // Parked: an interruption does not end a minimum hold
	Deleting: {Gone},
	Kept:     nil,
	Gone:     nil,
}

// becomeLocked moves the seat to a state, and returns true. It returns false if there is
// no edge, because another transition was first.
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

// newHold returns the hold of admitted nodes, on a seat without a lane. It returns nil if
// the session was lost or suspended since the grant; the caller must then delete or keep
// the nodes.
func newHold(of *Lock, data []byte, own *ownWatch, nodes ...framework.Created) *Hold {
	s := &Seat{terms: of.terms(), data: data}
	return s.admit(nodes, own)
}

// admit makes the seat Held, and returns its first hold. It returns nil if the session
// was lost or suspended since the grant.
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

// sit adds a holder. It returns nil if the seat is lost or Deleting by now. A Parked seat
// becomes Held again.
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

// park makes a seat without holders Parked. It returns false if the seat was just lost.
func (s *Seat) park() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == Held && s.becomeLocked(Parked)
}

// unseat removes a holder, and reports whether it was the last one.
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

// hasNodes reports whether the seat has the lock, to the client's knowledge.
func (s *Seat) hasNodes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isAliveLocked()
}

func (s *Seat) isAliveLocked() bool {
	return (s.state == Held || s.state == Parked) && !s.watched.ended && s.trusted.Err() == nil
}

// isTrustOver reports whether the session has ended the holds, and lose has not been
// called yet: a holder may notice that before the lane does.
func (s *Seat) isTrustOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return (s.state == Held || s.state == Parked) && s.trusted.Err() != nil
}

// mayPass reports whether the seat can be given to another goroutine: it is not lost, and
// no client has asked for the lock.
func (s *Seat) mayPass() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isAliveLocked() && !s.watched.asked.hasHappened()
}

// trustEnded is called by the session when it ends, after the contexts of all leases have
// ended. It must not block.
func (s *Seat) trustEnded(trusted context.Context) { s.lose(context.Cause(trusted)) }

// lose ends the holds with a cause, unless the seat is already Lost or Deleting. It must
// not block. Goroutines that wait for the seat get another one. The nodes stay until the
// last holder has stopped: no other client should hold the lock while a holder of this
// client still works.
func (s *Seat) lose(cause error) {
	s.mu.Lock()
	// A seat that stays for its minimum hold is trusted as long as its session lives,
	// even if an interruption is reported late.
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
		s.deleteInBackground()
	}
}

// spareLocked makes Close of the client leave the nodes of a lost seat to the servers for
// the safety margin, because a holder may still be stopping. spareLocked runs before the
// contexts end, in case a holder calls Close at once. If the framework ends the contexts
// itself, Close waits for trustEnded.
//
// If the only node was deleted, there is nothing to spare. Close leaves a lost session to
// the servers in any case. If Close itself ends the lease, spareLocked does nothing, too.
func (s *Seat) spareLocked(cause error) {
	switch {
	case reason.Is(cause, ErrNodeDeleted) && len(s.nodes) == 1,
		reason.Is(cause, framework.ErrSessionLost), reason.Is(cause, framework.ErrClosed),
		!slices.ContainsFunc(s.holds,
			func(h *Hold) bool { return !reason.Is(context.Cause(h.contextLocked()), ErrReleased) }):
		return
	}
	s.keepUntilLocked(time.Now().Add(s.session().SafetyMargin()))
}

// keepUntilLocked makes Close of the client leave the nodes to the servers until a time.
func (s *Seat) keepUntilLocked(until time.Time) {
	var takeBacks []func() // after a second call, the earlier functions have no effect
	for _, n := range s.nodes {
		takeBacks = append(takeBacks, insider.Of(s.client).KeepUntil(n.Session.ID(), n.Path, until))
	}
	s.spared = func() {
		for _, takeBack := range takeBacks {
			takeBack()
		}
	}
}

// holdersStoppedLocked undoes keepUntilLocked. A closed client has spared the nodes
// already, or is about to.
func (s *Seat) holdersStoppedLocked() {
	if s.spared == nil || framework.Extend(s.client).Context().Err() != nil {
		return
	}
	s.spared()
	s.spared = nil
}

// NodeDeleted makes the seat Lost with the cause ErrNodeDeleted, unless its holder is
// about to delete the nodes: see unwatch.
func (s *Seat) NodeDeleted() {
	if s.hasNodes() {
		s.lose(ErrNodeDeleted)
	}
}

// ours describes this client's seat as the holder.
func (s *Seat) ours() NotAdmitted {
	node := s.nodes[0]
	return NotAdmitted{
		Seen: time.Now(), Ahead: 1,
		Holder: path.Base(node.Path), HolderData: s.data, HolderSession: node.Session.ID(),
	}
}

// deleteInBackground makes the client delete the nodes in the background. It returns
// false if the seat has a holder, or if its nodes were deleted or kept before.
func (s *Seat) deleteInBackground() bool {
	s.mu.Lock()
	begins := len(s.holds) == 0 && s.becomeLocked(Deleting)
	s.mu.Unlock()
	if !begins {
		return false
	}
	s.forget()
	s.unwatch()
	if !s.spent.Load() {
		deleteInBackground(s.client, s.nodes)
	}
	s.gone(nil)
	return true
}

// gone makes the seat Gone. The error says why a node may still exist.
func (s *Seat) gone(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = err
	s.holdersStoppedLocked()
	s.becomeLocked(Gone)
}

// vacate gives the goroutines that wait for this seat another one.
func (s *Seat) vacate() {
	if q := s.lane; q != nil {
		q.mu.Lock()
		q.vacateLocked(s)
		q.decideLocked()
		q.mu.Unlock()
	}
}

func deleteInBackground(c *framework.Client, nodes []framework.Created) {
	for _, n := range nodes {
		framework.Extend(c).DeleteInBackground(n.Path)
	}
}
