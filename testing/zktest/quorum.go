package zktest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// This file decides which member follows which leader. Every change of the
// network or of a member ends in a call of updateLocked, which lets the members
// notice, each in its own time.

// updateLocked makes the members react to what has changed.
func (e *Ensemble) updateLocked() {
	for again := true; again; {
		again = false
		for _, m := range e.members {
			again = m.updateRoleLocked() || again
		}
	}
	e.resumeSessionsLocked()
	for _, m := range e.members {
		if m.upLocked() && !m.paused && m.leader == nil && e.leader != nil && e.leader.canCommitLocked() && m.reachesLocked(e.leader) {
			m.followLocked(e.leader)
		}
	}
	for _, m := range e.members {
		m.carryOutHeldLocked()
	}
	e.scheduleElectionLocked()
}

// updateRoleLocked does what a member does at once, and sets the alarm for what
// it does later. It reports true if others may have to react to that.
func (m *Member) updateRoleLocked() bool {
	switch {
	case m.leader == nil:
		return false
	case !m.upLocked() || !m.paused && m.leaderGoneLocked():
		m.startLookingLocked()
		return true
	case m.connectedLocked():
		m.givingUp.stop()
		m.givingUp = nil
		m.receiveAllLocked()
	case m.givingUp == nil:
		m.scheduleGivingUpLocked()
	}
	return false
}

// leaderGoneLocked reports whether the member knows at once that it has no
// leader, or as the leader no majority: a process that is gone ends its
// connections. Behind a partition nobody sees anything.
func (m *Member) leaderGoneLocked() bool {
	if m.leader != m {
		return m.part == m.leader.part && (!m.leader.upLocked() || !m.followsLocked(m.leader))
	}
	maybe := 0
	for _, o := range m.ens.members {
		if o.part != m.part || o.upLocked() && o.followsLocked(m) {
			maybe++
		}
	}
	return !m.ens.isMajority(maybe)
}

// connectedLocked reports whether the member has its leader, or as the leader
// its majority.
func (m *Member) connectedLocked() bool {
	if m.leader == m {
		return m.ens.isMajority(m.ens.countFollowersLocked(m))
	}
	return m.followsLocked(m.leader) && m.reachesLocked(m.leader)
}

// scheduleGivingUpLocked is a connection that is silent: a follower gives it up
// after the sync limit, and a leader without majority looks at the end of the
// tick after.
func (m *Member) scheduleGivingUpLocked() {
	patience := m.ens.cfg.syncTime()
	if m.leader == m {
		patience += m.ens.cfg.Tick
	}
	m.givingUp = m.afterLocked(patience, func() {
		m.mu.Lock()
		defer m.unlock()
		if m.leader == nil || m.connectedLocked() {
			return // it has changed while this alarm was going off
		}
		m.givingUp = nil
		if m.paused {
			m.disconnectedInPause = true
			return
		}
		m.startLookingLocked()
		m.ens.updateLocked()
	})
}

// receiveAllLocked gets what was on its way while the network was cut.
func (m *Member) receiveAllLocked() {
	if m.leader == m {
		return
	}
	m.received = len(m.queue)
	m.applyDueLocked()
	if len(m.touchTable) > 0 {
		m.ens.schedulePingLocked()
	}
}

// resumeSessionsLocked lets a leader that has its majority back look after the
// sessions: nobody could expire any meanwhile.
func (e *Ensemble) resumeSessionsLocked() {
	backed := e.leader != nil && e.leader.canCommitLocked()
	if backed && !e.hadMajority {
		for _, sess := range e.oldestFirstLocked() {
			sess.expireIfOverdueLocked()
		}
		e.leader.reaper.scheduleLocked()
	}
	e.hadMajority = backed
}

// scheduleElectionLocked starts an election if a majority looks for a leader
// and can talk, and ends one that has become impossible.
func (e *Ensemble) scheduleElectionLocked() {
	if e.votersLocked() == nil {
		e.election.stop()
		e.election = nil
		return
	}
	if e.election == nil {
		var own *alarm
		own = e.afterLocked(electionTime, func() {
			e.mu.Lock()
			defer e.unlock()
			if e.election == own {
				e.election = nil
				e.electLocked()
			}
		})
		e.election = own
	}
}

// votersLocked returns the members that look for a leader and can talk to each
// other, if they are a majority, else nil.
func (e *Ensemble) votersLocked() []*Member {
	for _, first := range e.members {
		var voters []*Member
		for _, m := range e.members {
			if m.leader == nil && m.upLocked() && !m.paused && m.reachesLocked(first) {
				voters = append(voters, m)
			}
		}
		if e.isMajority(len(voters)) {
			return voters
		}
	}
	return nil
}

// electLocked makes the voter the leader that knows most, and among those the
// one with the highest number, as ZooKeeper does. Any majority has a member
// that knows what another majority has received: no transaction is lost. Every
// session gets its full timeout, because the new leader does not know when its
// client was last heard of.
func (e *Ensemble) electLocked() {
	voters := e.votersLocked()
	if voters == nil {
		return
	}
	leader := slices.MaxFunc(voters, func(a, b *Member) int {
		return cmp.Or(cmp.Compare(a.zxid, b.zxid), -compareBool(a.resigned, b.resigned), cmp.Compare(a.id, b.id))
	})
	if e.leader != nil {
		e.leader.deposeLocked()
	}
	e.epoch++
	e.leader, e.hadMajority = leader, true
	leader.followLocked(leader)
	for _, m := range voters {
		m.followLocked(leader)
	}
	for _, sess := range e.oldestFirstLocked() {
		sess.beginTimeoutLocked()
	}
	leader.reaper.scheduleLocked()
	e.updateLocked() // others may be within reach
}

// deposeLocked notes what a leader has that does not know of the next one.
func (m *Member) deposeLocked() {
	m.deposed = &deposedLeader{maps.Clone(m.sessions)}
}

// resign is Resign of package zkinside.
func (m *Member) resign() bool {
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
	m.forgetHeldLocked()
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
	m.copyLocked(&leader.replica)
	m.leader, m.epoch, m.resigned = leader, m.ens.epoch, false
}

// Partition cuts the network between the given members and all others. Among
// themselves they stay connected, unless an earlier call has cut them apart: a
// further call only adds cuts. Clients reach them as before. The members notice
// the cut in their own time, as in reality: see MODEL.md in this folder.
//
// No members, all members, a nil member and one of another ensemble are
// refused: they fail the test of the ensemble, and are an error for an ensemble
// of [RunEnsemble].
func (e *Ensemble) Partition(members ...*Member) error {
	if err := e.checkPartition(members); err != nil {
		return e.misuse("%w", err)
	}
	e.mu.Lock()
	defer e.unlock()
	e.partitionLocked(members...)
	return nil
}

func (e *Ensemble) checkPartition(members []*Member) error {
	for i, m := range members {
		if !slices.Contains(e.members, m) {
			return fmt.Errorf("a partition whose member %d of %d is nil, or not of this ensemble", i+1, len(members))
		}
	}
	if len(members) == 0 {
		return errors.New("a partition of no member")
	}
	if !slices.ContainsFunc(e.members, func(m *Member) bool { return !slices.Contains(members, m) }) {
		return errors.New("a partition of all members, which leaves nobody to be cut off from")
	}
	return nil
}

// partitionLocked splits each part of the network into the given members and
// the others.
func (e *Ensemble) partitionLocked(members ...*Member) {
	type side struct {
		part  int
		given bool
	}
	parts := make(map[side]int)
	for _, m := range e.members {
		of := side{m.part, slices.Contains(members, m)}
		if _, known := parts[of]; !known {
			parts[of] = len(parts)
		}
		m.part = parts[of]
	}
	e.updateLocked()
}

// Heal ends every [Ensemble.Partition]. A member gets at once all that it has
// missed; a member that had given up its leader joins again. Use [Server.Heal]
// for the black holes of a member's clients.
func (e *Ensemble) Heal() {
	e.mu.Lock()
	defer e.unlock()
	for _, m := range e.members {
		m.part = 0
	}
	e.updateLocked()
}
