package zktest

import (
	"time"
)

// This file replicates the history of an ensemble. The leader makes transactions on its
// own tree, one after the other, and sends their effects to the other members, which apply
// the effects to their trees. A leader that lags makes transactions on another tree, and
// applies the effects like a follower. A standalone server sends nothing.

// replicateLocked sends a transaction of the leader to its followers.
func (e *Ensemble) replicateLocked(ent *entry) {
	for _, m := range e.members {
		if m == e.leader && m.ahead == nil || !m.followsLocked(e.leader) {
			continue
		}
		m.queue = append(m.queue, ent)
		if m.reachesLocked(e.leader) {
			m.received = len(m.queue)
			m.applyDueLocked()
		}
	}
}

// applyDueLocked applies the received transactions that are due, and sets the alarm for
// the next one.
func (m *Member) applyDueLocked() {
	if m.paused {
		return
	}
	now := time.Now()
	for m.received > 0 && !m.dueTimeLocked().After(now) {
		m.applyNextLocked()
	}
	m.applying.stop()
	m.applying = nil
	if len(m.queue) == 0 && m.lag == 0 {
		m.endAheadLocked()
	}
	if m.received > 0 && m.lag != forever {
		m.applying = m.afterLocked(m.dueTimeLocked().Sub(now), func() {
			m.mu.Lock()
			defer m.unlock()
			m.applyDueLocked()
		})
	}
}

// dueTimeLocked returns when the next transaction must be applied.
func (m *Member) dueTimeLocked() time.Time {
	if m.lag == forever {
		return time.Now().Add(forever)
	}
	return m.queue[0].at.Add(m.lag)
}

// applyNextLocked applies one transaction and sends the answers that wait for it.
func (m *Member) applyNextLocked() {
	ent := m.queue[0]
	m.queue[0] = nil
	m.queue = m.queue[1:]
	m.received--
	m.applyLocked(ent.effects, ent.zxid)
	m.publishLocked(ent.zxid, ent.changes, ent.end)
	m.answerAppliedLocked()
}

// answerAppliedLocked sends the answers that wait for an applied transaction. The answer
// to a write follows the events of that write, and precedes the events of the next write.
func (m *Member) answerAppliedLocked() {
	waiting := m.pending
	m.pending = nil
	for _, x := range waiting {
		if x.awaitZxid > m.zxid {
			m.pending = append(m.pending, x)
			continue
		}
		x.answerAppliedLocked()
	}
}

// Lag makes the member apply each transaction with the delay d after the leader has made
// it. The default is 0: the member applies every transaction at once. With math.MaxInt64,
// the member applies nothing until the next call of Lag. The lag delays the answers to
// writes and syncs through this member, and the events of watches at this member, but no
// reads. A leader that lags answers the syncs of its clients at once, like reads. A member
// that joins begins with all transactions. A negative d fails the test of the ensemble. For
// an ensemble of [RunEnsemble], a negative d is an error.
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

// recordTouchLocked records a contact with a client for the leader, which asks for
// contacts twice per tick.
func (m *Member) recordTouchLocked(sess *session) {
	if m.touchTable == nil {
		m.touchTable = make(map[*session]struct{})
	}
	m.touchTable[sess] = struct{}{}
	m.ens.schedulePingLocked()
}

// schedulePingLocked sets the alarm for the leader's next question, at
// multiples of half a tick.
func (e *Ensemble) schedulePingLocked() {
	if e.ping != nil {
		return
	}
	half := e.cfg.Tick / 2
	now := time.Now()
	e.pingAt = now.Truncate(half).Add(half)
	e.ping = e.afterLocked(e.pingAt.Sub(now), func() {
		e.mu.Lock()
		defer e.unlock()
		e.pingIfDueLocked()
	})
}

// pingIfDueLocked makes the leader ask its followers if the time has come. Before a session
// can expire at the same instant, pingIfDueLocked is called, so that the order is fixed.
func (e *Ensemble) pingIfDueLocked() {
	if e.ping != nil && !time.Now().Before(e.pingAt) {
		e.ping.stop()
		e.ping = nil
		e.pingFollowersLocked()
	}
}

// pingFollowersLocked reports the followers' contacts with clients to the leader. A
// follower that cannot reach the leader keeps its report until it can.
func (e *Ensemble) pingFollowersLocked() {
	for _, m := range e.members {
		if !m.canCommitLocked() {
			continue
		}
		for sess := range m.touchTable {
			sess.extendLocked()
		}
		clear(m.touchTable)
	}
}

// flushTouchLocked reports the contact with one client to the leader before the next ping.
func (e *Ensemble) flushTouchLocked(sess *session) {
	for _, m := range e.members {
		if _, heard := m.touchTable[sess]; heard && m.canCommitLocked() {
			sess.extendLocked()
			delete(m.touchTable, sess)
		}
	}
}
