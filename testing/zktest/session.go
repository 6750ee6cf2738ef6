package zktest

import (
	"cmp"
	"time"
)

// session is what the server knows of one client. It outlives connections and
// ends when the client closes it or is not heard of for its timeout.
// Everything here is guarded by the monitor of its cluster.
type session struct {
	id       int64
	cluster  *cluster // the cluster that knows it; constant
	timeout  time.Duration
	deadline time.Time
	expiry   *alarm
	armed    time.Time // expiry goes off then
	conn     *conn     // nil while the client is disconnected
	owner    *conn     // the newest, which may have ended; only its requests count
	stray    *conn     // a connection to a leader that was deposed; the others do not know of it
	host     *Host     // the last connection's; nil for none
}

// connLocked returns the connection of the client, nil if there is none.
func (sess *session) connLocked() *conn { return cmp.Or(sess.stray, sess.conn) }

// endConnsAtLocked ends the connections of the session to a server. It does
// nothing if there is none, or no session. Other members do not know of a move.
func (sess *session) endConnsAtLocked(s *Server) {
	if sess == nil {
		return
	}
	for _, c := range []*conn{sess.conn, sess.stray} {
		if c != nil && c.srv == s {
			c.closeByServerLocked()
		}
	}
}

// touchLocked notes that a server has heard of the client. A follower keeps that
// to itself until the leader asks for it.
func (sess *session) touchLocked(at *Server) {
	if sess.cluster.leaderServerLocked() != at {
		at.member.recordTouchLocked(sess)
		return
	}
	sess.extendLocked()
}

// extendLocked moves the deadline.
func (sess *session) extendLocked() {
	sess.deadline = time.Now().Add(sess.timeout)
	if tick := sess.cluster.cfg.tick; tick > 0 {
		sess.deadline = sess.deadline.Truncate(tick).Add(tick)
	}
	if sess.expiry != nil && sess.deadline.Before(sess.armed) {
		sess.armLocked()
	}
}

// beginTimeoutLocked gives the session its full timeout.
func (sess *session) beginTimeoutLocked() {
	sess.extendLocked()
	sess.armLocked()
}

// backdateLocked makes a session one that has not been heard of for d longer
// than it was.
func (sess *session) backdateLocked(d time.Duration) {
	sess.deadline = sess.deadline.Add(-d)
	sess.expireIfOverdueLocked()
}

// armLocked sets the session's alarm. Requests mostly move the deadline away,
// which is cheap: the alarm finds that out when it goes off, and is set again.
func (sess *session) armLocked() {
	c := sess.cluster
	sess.expiry.stop()
	sess.armed = sess.deadline
	sess.expiry = c.afterLocked(time.Until(sess.deadline), func() {
		c.mu.Lock()
		defer c.unlock()
		sess.expireIfOverdueLocked()
	})
}

// expireIfOverdueLocked does nothing while there is nobody to decide: whoever
// comes to decide looks after all sessions.
func (sess *session) expireIfOverdueLocked() {
	if sess.cluster.ens != nil {
		sess.cluster.ens.pingIfDueLocked()
	}
	switch decider := sess.cluster.leaderServerLocked(); {
	case decider == nil || sess.cluster.sessions[sess.id] != sess || !decider.canExpireLocked():
	case time.Now().Before(sess.deadline):
		sess.armLocked()
	default:
		decider.expired += sess.cluster.expireOverdueLocked()
	}
}

// canExpireLocked reports whether the server, which decides on sessions, is able
// to end them.
func (s *Server) canExpireLocked() bool { return s.writableLocked() && s.upLocked() && !s.paused }

// endLocked deletes a session and its ephemeral nodes in one transaction. The
// session's own watches still hear of it. closer is the connection that asks
// for it. If the client did not ask, closer is nil, and the client's connection
// ends.
func (sess *session) endLocked(closer *conn) {
	sess.cluster.forgetLocked(sess)
	sess.expiry.stop()
	sess.cluster.commitEndLocked(sessionEnd{sess, closer})
	if sess.host != nil {
		sess.host.endedLocked(sess)
	}
}

// newSessionLocked begins a session, which is a transaction.
func (c *cluster) newSessionLocked() *session {
	c.takeZxidLocked()
	return c.beginLocked(c)
}

// expireOverdueLocked ends every session whose time is up, those first that
// began first: at a tick there may be several. It returns how many there were.
func (c *cluster) expireOverdueLocked() (ended int) {
	now := time.Now()
	for _, sess := range c.oldestFirstLocked() {
		if !now.Before(sess.deadline) {
			sess.endLocked(nil)
			ended++
		}
	}
	return ended
}
