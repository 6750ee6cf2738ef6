package zktest

import (
	"cmp"
	"slices"
)

// Who follows whom. Every change of the network or of a member ends in update, which
// lets the members notice, each in its own time.

// countFollowers returns how many members with a vote follow a leader and reach it,
// itself included.
func (e *Ensemble) countFollowers(leader *Member) (n int) {
	for _, m := range e.members {
		if m.votes() && m.follows(leader) && m.reaches(leader) {
			n++
		}
	}
	return n
}

// isMajority reports whether n members with a vote can decide.
func (e *Ensemble) isMajority(n int) bool { return n > e.view.voters()/2 }

// update makes the members react to what has changed. e.mu is held.
func (e *Ensemble) update() {
	for again := true; again; {
		again = false
		for _, m := range e.members {
			again = m.react() || again
		}
	}
	e.regain()
	for _, m := range e.members {
		if m.up() && !m.frozen && m.leader == nil && e.leader != nil && e.leader.linked() && m.reaches(e.leader) {
			m.follow(e.leader)
		}
	}
	e.callElection()
}

// react does what a member does at once, and sets the alarm for what it does later.
// It reports true if others may have to react to that.
func (m *Member) react() bool {
	switch {
	case m.leader == nil:
		return false
	case !m.up() || !m.frozen && m.sees():
		m.look()
		return true
	case m.stands():
		m.leaving.stop()
		m.leaving = nil
		m.receiveAll()
	case m.leaving == nil:
		m.giveUpLater()
	}
	return false
}

// sees reports whether the member knows at once that it has no leader, or as the
// leader no majority: a process that is gone ends its connections. Behind a partition
// nobody sees anything.
func (m *Member) sees() bool {
	if m.leader != m {
		return m.side == m.leader.side && (!m.leader.up() || !m.follows(m.leader))
	}
	maybe := 0
	for _, o := range m.ens.members {
		if o.votes() && (o.side != m.side || o.up() && o.follows(m)) {
			maybe++
		}
	}
	return !m.ens.isMajority(maybe)
}

// stands reports whether the member has its leader, or as the leader its majority.
func (m *Member) stands() bool {
	if m.leader == m {
		return m.ens.isMajority(m.ens.countFollowers(m))
	}
	return m.follows(m.leader) && m.reaches(m.leader)
}

// giveUpLater is a connection that is silent: a follower gives it up after the sync
// limit, and a leader without majority looks at the end of the tick after.
func (m *Member) giveUpLater() {
	patience := m.ens.cfg.syncTime()
	if m.leader == m {
		patience += m.ens.cfg.tick
	}
	m.leaving = m.after(patience, func() {
		m.mu.Lock()
		defer m.unlock()
		if m.leader == nil || m.stands() {
			return // it has changed while this alarm was going off
		}
		m.leaving = nil
		if m.frozen {
			m.overdue = true
			return
		}
		m.look()
		m.ens.update()
	})
}

// receiveAll gets what was on its way while the network was cut.
func (m *Member) receiveAll() {
	if m.leader == m {
		return
	}
	m.received = len(m.queue)
	m.advance()
	if len(m.heardOf) > 0 {
		m.ens.scheduleShipping()
	}
}

// regain lets a leader that has its majority back look after the sessions: nobody
// could expire any meanwhile.
func (e *Ensemble) regain() {
	backed := e.leader != nil && e.leader.linked()
	if backed && !e.backed {
		for _, sess := range e.oldestFirst() {
			e.leader.expireIfOverdue(sess)
		}
		e.leader.scheduleReaper()
	}
	e.backed = backed
}

// callElection starts an election if a majority looks for a leader and can talk, and
// ends one that has become impossible.
func (e *Ensemble) callElection() {
	if e.voters() == nil {
		e.electing.stop()
		e.electing = nil
		return
	}
	if e.electing == nil {
		var own *alarm
		own = e.after(e.cfg.election, func() {
			e.mu.Lock()
			defer e.unlock()
			if e.electing == own {
				e.electing = nil
				e.elect()
			}
		})
		e.electing = own
	}
}

// voters returns the members with a vote that look for a leader and can talk to each other, if
// they are a majority, else nil.
func (e *Ensemble) voters() []*Member {
	for _, first := range e.members {
		var voters []*Member
		for _, m := range e.members {
			if m.votes() && m.leader == nil && m.up() && !m.frozen && m.reaches(first) {
				voters = append(voters, m)
			}
		}
		if e.isMajority(len(voters)) {
			return voters
		}
	}
	return nil
}

// elect puts the voter into office that knows most, and among those the one with the
// highest number, as ZooKeeper does. What a majority has received is known to one of
// any majority: no transaction is lost. Every session gets its full timeout, because
// the new leader does not know when its client was last heard of.
func (e *Ensemble) elect() {
	voters := e.voters()
	if voters == nil {
		return
	}
	leader := slices.MaxFunc(voters, func(a, b *Member) int {
		return cmp.Or(cmp.Compare(a.zxid, b.zxid), -compareBool(a.resigned, b.resigned), cmp.Compare(a.id, b.id))
	})
	e.epoch++
	e.leader, e.backed = leader, true
	leader.follow(leader)
	for _, m := range voters {
		m.follow(leader)
	}
	for _, sess := range e.oldestFirst() {
		leader.touch(sess)
		leader.watchOver(sess)
	}
	leader.scheduleReaper()
	e.update() // others may be within reach
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
