package zktest

import (
	"slices"
	"time"
)

// WithReadOnlyMode lets a member of an [Ensemble] serve reads while it has no
// leader. The mode begins two seconds or one tick after the loss of the leader,
// whichever is longer. Only clients that agree to it in their handshake are let
// in. Writes and syncs fail with -119, which is NotReadOnly. By default such a
// member serves nobody, as a real server without readonlymode.enabled. The
// option has no effect on a standalone server.
//
// A session that begins at such a member is known to that member only, and ends
// with the mode. The member refuses sessions of the ensemble, because it cannot
// know whether they have expired.
func WithReadOnlyMode() Option {
	return func(c *config) { c.readOnlyMode = true }
}

// readOnlyGrace is how long a member looks for a leader before it is read-only.
// The tick counts if it is longer, as in QuorumPeer.run.
const readOnlyGrace = 2 * time.Second

// updateReadOnlyLocked begins and ends the mode as the member's state has it.
func (m *Member) updateReadOnlyLocked() {
	switch {
	case !m.cfg.readOnlyMode:
	case !m.upLocked() || m.leader != nil:
		m.endReadOnlyLocked()
	case !m.readOnly.on && m.readOnly.begin == nil && !m.paused:
		m.scheduleReadOnlyLocked()
	}
}

func (m *Member) scheduleReadOnlyLocked() {
	var own *alarm
	own = m.afterLocked(max(readOnlyGrace, m.cfg.tick), func() {
		m.mu.Lock()
		defer m.unlock()
		if m.readOnly.begin != own {
			return
		}
		m.readOnly.begin = nil
		if !m.paused { // after a pause, the next change begins the wait again
			m.readOnly.on = true
		}
	})
	m.readOnly.begin = own
}

// endReadOnlyLocked ends the mode with its sessions and connections.
func (m *Member) endReadOnlyLocked() {
	m.readOnly.begin.stop()
	m.readOnly.begin = nil
	if !m.readOnly.on {
		return
	}
	m.readOnly.on = false
	m.forgetHeldLocked()
	for _, sess := range m.ownSessionsLocked() {
		sess.endLocked(nil)
	}
	for _, c := range m.conns.inOrder() {
		c.closeByServerLocked()
	}
}

// noteGlobalSessionsLocked notes which sessions of the ensemble the member
// knows of when it loses its leader: the ones that have not ended, and the ones
// whose end it has not heard of.
func (m *Member) noteGlobalSessionsLocked() {
	if !m.cfg.readOnlyMode {
		return
	}
	m.readOnly.global = make(map[int64]struct{})
	for id := range m.sessions {
		m.readOnly.global[id] = struct{}{}
	}
	for _, ent := range m.queue { // what it has not received
		if ent.end.session != nil {
			m.readOnly.global[ent.end.session.id] = struct{}{}
		}
	}
}

// resumeReadOnlyLocked looks after the sessions of a member that was paused.
func (m *Member) resumeReadOnlyLocked() {
	for _, sess := range m.ownSessionsLocked() {
		sess.expireIfOverdueLocked()
	}
}

// ownSessionsLocked returns the sessions that are known to this member only,
// oldest first.
func (m *Member) ownSessionsLocked() []*session {
	return slices.DeleteFunc(inOrder(m.ownSessions), func(sess *session) bool { return sess.home != m.Server })
}
