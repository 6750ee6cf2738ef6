package zktest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// This file decides which member follows which leader. After every change of the network
// or of a member, updateLocked lets each member notice the change in its own time.

// updateLocked makes the members react to a change.
func (e *Ensemble) updateLocked() {
	for again := true; again; {
		again = false
		for _, m := range e.members {
			again = m.updateRoleLocked() || again
		}
	}
	e.resumeSessionsLocked()
	for _, m := range e.members {
		isLeaderless := m.upLocked() && !m.paused && m.leader == nil
		if isLeaderless && e.leader != nil && e.leader.canCommitLocked() && m.reachesLocked(e.leader) {
			m.followLocked(e.leader)
		}
	}
	for _, m := range e.members {
		m.carryOutHeldLocked()
	}
	e.scheduleElectionLocked()
}

// updateRoleLocked makes a member react at once, and sets the alarm for a later reaction.
// It returns true if other members may have to react in turn.
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

// leaderGoneLocked reports whether a follower has lost its leader, or a leader its majority,
// in a way that the member notices at once: a process that ends closes its connections. A
// partition closes none.
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

// connectedLocked reports whether a follower reaches its leader, or a leader its majority.
func (m *Member) connectedLocked() bool {
	if m.leader == m {
		return m.ens.isMajority(m.ens.countFollowersLocked(m))
	}
	return m.followsLocked(m.leader) && m.reachesLocked(m.leader)
}

// scheduleGivingUpLocked is called when a connection between members is silent. A follower
// gives the connection up after the sync limit. A leader without a majority steps down at
// the end of the tick after the sync limit.
func (m *Member) scheduleGivingUpLocked() {
	patience := m.ens.cfg.syncTime()
	if m.leader == m {
		patience += m.ens.cfg.Tick
	}
	m.givingUp = m.afterLocked(patience, func() {
		m.mu.Lock()
		defer m.unlock()
		if m.leader == nil || m.connectedLocked() {
			return // the connection has changed while this alarm was going off
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

// receiveAllLocked receives the transactions that were sent while the network was cut.
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

// resumeSessionsLocked makes a leader that has its majority again expire sessions. In the
// meantime, no member could expire any.
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

// scheduleElectionLocked starts an election if a connected majority looks for a leader. It
// cancels an election that has become impossible.
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

// votersLocked returns the connected members that look for a leader, if they are a
// majority. Otherwise it returns nil.
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

// electLocked makes the voter with the most transactions the leader. Among several such
// voters, the highest number wins, as in ZooKeeper. No committed transaction is lost,
// because any two majorities have a member in common. Every session gets its full timeout,
// because the new leader does not know the last contacts of the clients.
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
	e.updateLocked() // the leader may reach more members
}

// deposeLocked keeps the state of a leader that does not know of the next leader.
func (m *Member) deposeLocked() {
	m.deposed = &deposedLeader{maps.Clone(m.sessions)}
}

// resign implements Resign of package zkinside.
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

// startLookingLocked makes a member look for a leader. The member closes its clients'
// connections, and applies all transactions that have arrived, because they are in the log
// on its disk. It gets the other transactions from the next leader.
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

// followLocked makes a member follow a leader, with the leader's data.
func (m *Member) followLocked(leader *Member) {
	m.copyLocked(&leader.replica)
	m.leader, m.epoch, m.resigned = leader, m.ens.epoch, false
}

// Partition cuts the network between the given members and all other members. The given
// members stay connected to each other, unless an earlier call has separated them: each
// call only adds cuts. Clients still reach all members. Each member notices the cut in its
// own time, as in reality: see MODEL.md in this folder.
//
// Partition refuses no members, all members, a nil member, and a member of another
// ensemble. These arguments fail the test of the ensemble. For an ensemble of
// [RunEnsemble], they are an error.
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

// partitionLocked splits each part of the network into the given members and the other
// members.
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

// Heal ends every [Ensemble.Partition]. A member gets all missed transactions at once, and
// a member that has left its leader joins again. For the black holes of a member's
// clients, use [Server.Heal].
func (e *Ensemble) Heal() {
	e.mu.Lock()
	defer e.unlock()
	for _, m := range e.members {
		m.part = 0
	}
	e.updateLocked()
}
