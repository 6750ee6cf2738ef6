package zktest

import (
	"math"
	"time"
)

// Forever is a lag that does not end by itself.
const Forever time.Duration = math.MaxInt64

// Member is a server of an [Ensemble]. Inspection shows what this member has applied;
// its sessions are those of the ensemble. Methods that write, [Server.Create] and
// the like, go through the leader. [Server.Close] takes the member away for good.
type Member struct {
	*Server
	ens *Ensemble
	id  int

	// Guarded by mu.
	leader   *Member // whom it follows, itself if it leads; nil while it looks for a leader and does not serve
	term     int64   // the epoch of that leader: the same member may lead again later
	side     int     // of the partitioned network
	lag      time.Duration
	resigned bool     // it does not want to win the next election
	queue    []*entry // transactions to apply
	received int      // how many of them have arrived
	applying *alarm   // for the next one
	leaving  *alarm   // when it gives up the leader, or as the leader its office
	settling []*exchange
	heardOf  map[*session]struct{} // clients the leader has not been told of
	overdue  bool                  // it would have given up its leader, had it not been frozen
}

// ID returns the number of the member, counted from 1.
func (m *Member) ID() int { return m.id }

// Mode returns "leader", "follower", "observer", "looking" or "stopped", as the member sees itself.
func (m *Member) Mode() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mode()
}

// mode is also what the four-letter words tell.
func (s *Server) mode() string {
	m := s.member
	switch {
	case m == nil:
		return "standalone"
	case !m.up():
		return "stopped"
	case m.leader == nil:
		return "looking"
	case m.leader == m:
		return "leader"
	case m.ens.view.observes(m.id):
		return "observer"
	}
	return "follower"
}

// Lag makes the member apply each transaction d after the leader made it. [Forever]
// means that it stands still until told otherwise; 0, the default, that it applies
// everything at once. It delays the answers to writes and syncs that reach the
// ensemble through this member, and the events of the watches there, but no reads. A
// leader does not lag, and a member that joins begins with all there is.
func (m *Member) Lag(d time.Duration) {
	m.mu.Lock()
	defer m.unlock()
	m.lag = d
	m.advance()
}

// Isolate is [Ensemble.Partition] of this member alone.
func (m *Member) Isolate() { m.ens.Partition(m) }

// Resign makes a leader give up its office. As on a real ensemble every member drops
// its clients and looks for a leader; another one is elected, if there is another
// that can be. It reports whether the member was the leader.
func (m *Member) Resign() bool {
	m.mu.Lock()
	defer m.unlock()
	if m.ens.leader != m {
		return false
	}
	m.resigned = true
	m.look()
	m.ens.update()
	return true
}

// up reports whether the member's process takes part.
func (m *Member) up() bool { return !m.stopped && !m.closed }

// reaches reports whether two members can talk to each other.
func (m *Member) reaches(o *Member) bool {
	return m.up() && o.up() && m.side == o.side && !m.frozen && !o.frozen
}

// follows reports whether the member has that leader, and in its present office.
func (m *Member) follows(leader *Member) bool {
	return m.leader == leader && leader.leader == leader && m.term == leader.term
}

// linked reports whether a write through this member can become a transaction.
func (m *Member) linked() bool {
	leader := m.ens.leader
	return leader != nil && m.follows(leader) && m.reaches(leader) && m.ens.isMajority(m.ens.countFollowers(leader))
}

// remember notes a client for the leader, which asks twice per tick.
func (m *Member) remember(sess *session) {
	if m.heardOf == nil {
		m.heardOf = make(map[*session]struct{})
	}
	m.heardOf[sess] = struct{}{}
	m.ens.scheduleShipping()
}

// scheduleShipping sets the alarm for the leader's next question, at multiples of
// half a tick.
func (e *Ensemble) scheduleShipping() {
	if e.shipping != nil {
		return
	}
	half := e.cfg.tick / 2
	now := e.clock.Now()
	e.shipAt = now.Truncate(half).Add(half)
	e.shipping = e.after(e.shipAt.Sub(now), func() {
		e.mu.Lock()
		defer e.unlock()
		e.shipIfDue()
	})
}

// shipIfDue is the leader's question at its time. Who decides at the same instant
// whether a session is over comes here first, so that there is one order.
func (e *Ensemble) shipIfDue() {
	if e.shipping != nil && !e.clock.Now().Before(e.shipAt) {
		e.shipping.stop()
		e.shipping = nil
		e.ship()
	}
}

// ship tells the leader of the clients that its followers have heard of. Those who
// cannot reach it tell later, if they ever do.
func (e *Ensemble) ship() {
	for _, m := range e.members {
		if !m.linked() {
			continue
		}
		for sess := range m.heardOf {
			e.leader.touch(sess)
		}
		clear(m.heardOf)
	}
}

// tellOf is ship for one session, before its time.
func (e *Ensemble) tellOf(sess *session) {
	for _, m := range e.members {
		if _, heard := m.heardOf[sess]; heard && m.linked() {
			e.leader.touch(sess)
			delete(m.heardOf, sess)
		}
	}
}

// look makes a member one without a leader: the clients are dropped, and everything
// that has arrived is applied, as it is in the log on the disk. What has not arrived
// will come from the next leader.
func (m *Member) look() {
	m.leaving.stop()
	m.leaving, m.leader, m.overdue = nil, nil, false
	for _, c := range m.inOrder() {
		c.sever()
	}
	for m.received > 0 {
		m.applyNext()
	}
	m.applying.stop()
	m.applying, m.queue = nil, nil
	clear(m.heardOf)
	for _, x := range m.settling {
		x.giveUp()
	}
	m.settling = nil
	if m.ens.leader == m {
		m.ens.leader = nil
	}
}

// follow makes a member one of the leader's, with the same data.
func (m *Member) follow(leader *Member) {
	if m.zxid != leader.zxid {
		m.tree, m.zxid = leader.tree.clone(), leader.zxid
	}
	m.beyond = nil
	m.leader, m.term, m.resigned = leader, m.ens.epoch, false
}

// thaw lets a frozen member find out what it has slept through.
func (m *Member) thaw() {
	if m.overdue && !m.stands() {
		m.look()
	}
	m.overdue = false
	if m.ens.leader == m {
		m.ens.backed = false // look after the sessions
	}
	m.ens.update()
	m.advance()
}

// admits reports whether the session may come here, see [Ensemble.MoveSession].
func (m *Member) admits(session int64) bool {
	to := m.ens.moving[session]
	if to == m {
		delete(m.ens.moving, session)
	}
	return to == nil || to == m
}

// number is the member's ID, 0 for a server on its own.
func (s *Server) number() int {
	if s.member == nil {
		return 0
	}
	return s.member.id
}
