package zktest

import (
	"time"
)

// The history of an ensemble. The leader makes transactions on its own tree,
// one after the other; what they did there is sent to the other members, which
// do it to theirs. A leader that lags makes them on another tree, and then is
// like the others. A standalone server is its own leader and sends nothing.

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

// applyDueLocked applies what has been received and is due, and sets the alarm
// for the rest.
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

// dueTimeLocked is when the next transaction is to be applied.
func (m *Member) dueTimeLocked() time.Time {
	if m.lag == forever {
		return time.Now().Add(forever)
	}
	return m.queue[0].at.Add(m.lag)
}

// applyNextLocked applies one transaction and lets the answers go that wait for
// it.
func (m *Member) applyNextLocked() {
	ent := m.queue[0]
	m.queue[0] = nil
	m.queue = m.queue[1:]
	m.received--
	m.applyLocked(ent.effects, ent.zxid)
	m.publishLocked(ent.zxid, ent.changes, ent.end)
	m.answerAppliedLocked()
}

// answerAppliedLocked sends the answers that waited for what has been applied.
// An answer to a write goes out behind the events of that write and before the
// next write's.
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

// Lag makes the member apply each transaction d after the leader made it. With 0, the
// default, the member applies every transaction at once; with math.MaxInt64, none until
// the next Lag. Lag delays the answers to writes and syncs through this member, and the
// events of watches there, but no reads. A leader that lags answers the syncs of its
// clients at once, like reads. A member that joins begins with all transactions. A
// negative d is refused.
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

// recordTouchLocked notes a client for the leader, which asks twice per tick.
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

// pingIfDueLocked is the leader's question at its time. A decision at the same
// instant on whether a session is over comes here first, so that there is one
// order.
func (e *Ensemble) pingIfDueLocked() {
	if e.ping != nil && !time.Now().Before(e.pingAt) {
		e.ping.stop()
		e.ping = nil
		e.pingFollowersLocked()
	}
}

// pingFollowersLocked tells the leader of the clients that its followers have
// heard of. Followers that cannot reach it tell later, if they ever do.
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

// flushTouchLocked tells the leader of one session before the next ping does.
func (e *Ensemble) flushTouchLocked(sess *session) {
	for _, m := range e.members {
		if _, heard := m.touchTable[sess]; heard && m.canCommitLocked() {
			sess.extendLocked()
			delete(m.touchTable, sess)
		}
	}
}
