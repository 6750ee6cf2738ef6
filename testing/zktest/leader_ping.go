package zktest

import "time"

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
	half := e.cfg.tick / 2
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
