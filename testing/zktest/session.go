package zktest

import (
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"time"
)

// session is what the server knows of one client. It outlives connections and
// ends when the client closes it or is not heard of for its timeout.
// Everything here is guarded by Server.mu.
type session struct {
	id       int64
	timeout  time.Duration
	deadline time.Time
	expiry   *alarm
	armed    time.Time // when expiry goes off
	conn     *conn     // nil while the client is disconnected
	owner    *conn     // the newest, which may have ended; only its requests count
	stray    *conn     // to a leader that was deposed; the others do not know of it
	host     *Host     // of the last connection; nil for none
	home     *Member   // the read-only member that alone knows it; nil for one of the ensemble; constant
}

const passwordSize = 16

// password proves that a client owns a session. It is derived from the id, so
// that the server need not keep it, and from a secret: servers that begin in
// the same millisecond have the same ids, and must not take each other's
// clients in.
func (s *Server) password(id int64) []byte {
	sum := sha1.Sum(binary.BigEndian.AppendUint64(nil, uint64(id)^s.secret))
	return sum[:passwordSize]
}

// firstSessionID makes ids as ZooKeeper does: the server's number in the top
// byte, then the time of its start, then a counter.
func firstSessionID(start time.Time) int64 {
	const serverID = 1
	return int64(uint64(start.UnixMilli())<<24>>8) | serverID<<56
}

// connLocked returns the connection of the client, nil if there is none.
func (sess *session) connLocked() *conn { return cmp.Or(sess.stray, sess.conn) }

// newSessionLocked begins a session, which is a transaction.
func (s *Server) newSessionLocked() *session {
	s.takeZxidLocked()
	s.lastSession++
	sess := &session{id: s.lastSession}
	s.sessions[sess.id] = sess
	return sess
}

// touchLocked notes that the client of a session has been heard of. A follower
// keeps that to itself until the leader asks for it.
func (s *Server) touchLocked(sess *session) {
	if s.deciderLocked(sess) != s {
		s.member.recordTouchLocked(sess)
		return
	}
	s.extendLocked(sess)
}

// deciderLocked returns the server that decides on the end of a session: the
// leader, or the read-only member that alone knows the session.
func (s *Server) deciderLocked(sess *session) *Server {
	if sess.home != nil {
		return sess.home.Server
	}
	return s.leaderServerLocked()
}

// extendLocked moves the session's deadline. It is the decider's to call.
func (s *Server) extendLocked(sess *session) {
	sess.deadline = time.Now().Add(s.measuredLocked(sess.timeout))
	if tick := s.cfg.tick; tick > 0 {
		sess.deadline = sess.deadline.Truncate(tick).Add(tick)
	}
	if sess.expiry != nil && sess.deadline.Before(sess.armed) {
		s.armExpiryLocked(sess)
	}
}

// measuredLocked returns how long a timeout lasts by the server's clock.
func (s *Server) measuredLocked(timeout time.Duration) time.Duration {
	if s.rate == 1 {
		return timeout
	}
	const longest = 100 * 365 * 24 * time.Hour
	return time.Duration(min(float64(timeout)/s.rate, float64(longest)))
}

// armExpiryLocked arms the session's alarm. Requests mostly move the deadline
// away, which is cheap: the alarm finds that out when it goes off, and is set
// again.
func (s *Server) armExpiryLocked(sess *session) {
	sess.expiry.stop()
	sess.armed = sess.deadline
	sess.expiry = s.afterLocked(time.Until(sess.deadline), func() {
		s.mu.Lock()
		defer s.unlock()
		s.expireIfOverdueLocked(sess)
	})
}

// expireIfOverdueLocked does nothing while there is nobody to decide: whoever
// comes to decide looks after all sessions.
func (s *Server) expireIfOverdueLocked(sess *session) {
	if sess.home != nil {
		sess.home.expireOwnIfOverdueLocked(sess)
		return
	}
	leader := s.leaderServerLocked()
	if s.member != nil {
		s.member.ens.pingIfDueLocked()
	}
	switch {
	case leader == nil || !leader.writableLocked() || leader.stopped || leader.closed || leader.paused || s.sessions[sess.id] != sess:
	case time.Now().Before(sess.deadline):
		leader.armExpiryLocked(sess)
	default:
		leader.expired += s.expireOverdueLocked()
	}
}

// expireOverdueLocked ends every session whose time is up, those first that
// began first: at a tick there may be several. It returns how many there were.
func (s *Server) expireOverdueLocked() (ended int) {
	now := time.Now()
	for _, sess := range s.oldestFirstLocked() {
		if !now.Before(sess.deadline) {
			s.endSessionLocked(sess, nil)
			ended++
		}
	}
	return ended
}

// endSessionLocked deletes a session and its ephemeral nodes in one
// transaction, of which its own watches still hear. closer is the connection
// that asks for it, nil if the client did not; then its connection ends.
func (s *Server) endSessionLocked(sess *session, closer *conn) {
	if sess.home != nil {
		sess.home.endOwnSessionLocked(sess, closer)
		return
	}
	delete(s.sessions, sess.id)
	delete(s.pausedSessions, sess.id)
	if s.member != nil {
		delete(s.member.ens.moving, sess.id) // every member may say that it is over
	}
	sess.expiry.stop()
	s.commitEndLocked(sessionEnd{sess, closer})
	if sess.host != nil {
		sess.host.endedLocked(sess)
	}
}
