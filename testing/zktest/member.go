package zktest

import (
	"math"
	"time"
)

// Forever is a lag that does not end by itself.
const Forever time.Duration = math.MaxInt64

// Member is a server of an [Ensemble]. Inspection shows what this member has
// applied; its sessions are those of the ensemble. Methods that write,
// [Server.Create] and the like, go through the leader. [Server.Close] takes the
// member away for good.
type Member struct {
	*Server
	id int

	// Guarded by mu.
	leader              *Member // whom it follows, itself if it leads; nil while it looks for a leader and does not serve
	epoch               int64   // the epoch of that leader: the same member may lead again later
	part                int     // of a network that is partitioned: members of one part reach each other
	lag                 time.Duration
	resigned            bool     // it does not want to win the next election
	queue               []*entry // transactions to apply
	received            int      // how many of them have arrived
	applying            *alarm   // for the next one
	givingUp            *alarm   // when it gives up its leader, or steps down as the leader
	pending             []*exchange
	touchTable          map[*session]struct{} // clients the leader has not been told of
	readOnly            readOnlyServer
	disconnectedInPause bool // it would have given up its leader, had it not been paused
	deposed             *deposedLeader
}

// ID returns the number of the member, counted from 1.
func (m *Member) ID() int { return m.id }

// Lag makes the member apply each transaction d after the leader made it.
// [Forever] means that it stands still until told otherwise; 0, the default,
// that it applies everything at once. It delays the answers to writes and syncs
// that reach the ensemble through this member, and the events of the watches
// there, but no reads. A leader that lags answers the syncs of its own clients
// at once, like reads. A member that joins begins with all there is. A negative
// d fails the test of the ensemble, and is an error for an ensemble of
// [RunEnsemble].
func (m *Member) Lag(d time.Duration) error {
	if d < 0 {
		return m.misuse("a lag of %v", d)
	}
	m.mu.Lock()
	defer m.unlock()
	m.lag = d
	m.applyDueLocked()
	return nil
}

// Behind returns how many transactions the member has not applied yet, of those
// that its leader has made.
func (m *Member) Behind() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue)
}

// Reaches reports whether two members can talk to each other: both run, and no
// [Ensemble.Partition] is between them.
func (m *Member) Reaches(other *Member) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return other != nil && m.ens == other.ens && m.reachesLocked(other)
}

// Resign makes the leader step down. As on a real ensemble every member drops
// its clients and looks for a leader; another one is elected, if one is
// eligible. It reports whether the member was the leader, and not paused.
func (m *Member) Resign() bool {
	m.mu.Lock()
	defer m.unlock()
	if m.ens.leader != m || m.paused {
		return false
	}
	m.resigned = true
	m.startLookingLocked()
	m.ens.updateLocked()
	return true
}

// reachesLocked reports whether two members can talk to each other.
func (m *Member) reachesLocked(o *Member) bool {
	return m.upLocked() && o.upLocked() && m.part == o.part && !m.paused && !o.paused
}

// followsLocked reports whether the member follows that leader, in its present
// epoch.
func (m *Member) followsLocked(leader *Member) bool {
	return m.leader == leader && leader.leader == leader && m.epoch == leader.epoch
}

// canCommitLocked reports whether a write through this member can become a
// transaction.
func (m *Member) canCommitLocked() bool {
	leader := m.ens.leader
	return leader != nil && m.followsLocked(leader) && m.reachesLocked(leader) && m.ens.isMajorityLocked(m.ens.countFollowersLocked(leader))
}

// startLookingLocked makes a member one without a leader: the clients are
// dropped, and everything that has arrived is applied, as it is in the log on
// the disk. The rest will come from the next leader.
func (m *Member) startLookingLocked() {
	m.givingUp.stop()
	m.givingUp, m.leader, m.disconnectedInPause, m.deposed = nil, nil, false, nil
	for _, c := range m.conns.inOrder() {
		c.closeByServerLocked()
	}
	for m.received > 0 {
		m.applyNextLocked()
	}
	m.noteGlobalSessionsLocked()
	m.endAheadLocked()
	m.applying.stop()
	m.applying, m.queue = nil, nil
	clear(m.touchTable)
	for _, x := range m.pending {
		x.abandonLocked()
	}
	m.pending = nil
	if m.ens.leader == m {
		m.ens.leader = nil
	}
}

// followLocked makes a member one of the leader's, with the same data.
func (m *Member) followLocked(leader *Member) {
	m.endReadOnlyLocked()
	m.copyLocked(&leader.replica)
	m.leader, m.epoch, m.resigned = leader, m.ens.epoch, false
}

// resumeLocked lets a paused member find out what it has slept through.
func (m *Member) resumeLocked() {
	if m.disconnectedInPause && !m.connectedLocked() {
		m.startLookingLocked()
	}
	m.disconnectedInPause = false
	if m.ens.leader == m {
		m.ens.hadMajority = false // look after the sessions
	}
	m.resumeReadOnlyLocked()
	if m.ens.roleChange == nil { // else that comes at its time
		m.ens.changeRolesLocked()
	}
	m.ens.updateLocked()
	m.applyDueLocked()
}

// admitsLocked reports whether the session may come here, see [Session.MoveTo].
func (m *Member) admitsLocked(session int64) bool {
	to := m.moving[session]
	if to == m {
		delete(m.moving, session)
	}
	return to == nil || to == m
}
