package zktest

import (
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// session is the servers' record of one client. A session outlives connections. It ends
// when the client closes it, or when no request has arrived for its timeout. The monitor
// of the cluster guards all fields.
type session struct {
	id       int64
	cluster  *cluster // constant
	timeout  time.Duration
	deadline time.Time
	expiry   *alarm
	armed    time.Time // when the alarm expiry goes off
	conn     *conn     // nil while the client is disconnected
	owner    *conn     // the newest connection, which may have ended; only its requests count
	stray    *conn     // a connection to a deposed leader; no other member knows it
	host     *Host     // the last connection's; nil if the client has not dialed through a Host
}

// connLocked returns the connection of the client, or nil.
func (sess *session) connLocked() *conn { return cmp.Or(sess.stray, sess.conn) }

// endConnsAtLocked ends the connections of the session, which may be nil, to a server.
// That server may not know that the client has moved to another member.
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

// touchLocked records that a server has received something from the client. A follower
// reports the contact when the leader asks.
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
	if tick := sess.cluster.cfg.Tick; tick > 0 {
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

// backdateLocked makes the last contact of a session older by the duration d.
func (sess *session) backdateLocked(d time.Duration) {
	sess.deadline = sess.deadline.Add(-d)
	sess.expireIfOverdueLocked()
}

// armLocked sets the session's alarm. A request usually only moves the deadline: the
// alarm reads the deadline when it goes off, and is set again.
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

// expireIfOverdueLocked ends the session if its deadline has passed. Without a leader, it
// does nothing: the next leader checks all sessions.
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

// canExpireLocked reports whether the server, a leader or a standalone server, can end
// sessions now.
func (s *Server) canExpireLocked() bool { return s.writableLocked() && s.upLocked() && !s.paused }

// endLocked deletes a session and its ephemeral nodes in one transaction. The session's
// own watches still get the events. The argument closer is the connection on which the
// client has asked for the end. If closer is nil, the client's connection ends, too.
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

// expireOverdueLocked ends every session whose deadline has passed, the oldest first, and
// returns how many it has ended. Several sessions may have their deadline at one tick.
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

// sessionTable has the sessions of a cluster.
type sessionTable struct {
	secret uint64 // the source of the passwords; constant

	// The rest is guarded by the monitor of the cluster.
	last     int64 // the newest id
	sessions map[int64]*session

	// These maps are nil until they have an element.
	replaced       map[int64]struct{} // sessions that the next handshake replaces silently
	pausedSessions map[int64]struct{} // sessions whose requests wait
	moving         map[int64]*Member  // the only members that accept these sessions
}

func newSessionTable(cfg config) sessionTable {
	return sessionTable{
		secret: secretOf(cfg), last: firstSessionID(time.Now()), sessions: make(map[int64]*session),
	}
}

// secretOf returns the secret for passwords of sessions. With a chaos plan from the
// beginning, the secret depends on the seed, so that a seed repeats a run.
func secretOf(cfg config) uint64 {
	if cfg.plan != nil {
		return cfg.plan.Seed
	}
	return rand.Uint64()
}

const passwordSize = 16

// password returns the password by which a client proves that it owns a session. The
// password depends on the id, so the server need not store it, and on the secret:
// servers that begin in the same millisecond have the same ids, and must refuse each
// other's clients.
func (t *sessionTable) password(id int64) []byte {
	sum := sha1.Sum(binary.BigEndian.AppendUint64(nil, uint64(id)^t.secret))
	return sum[:passwordSize]
}

// firstSessionID returns the first id, in ZooKeeper's format: the server's number in the
// top byte, then the time of the server's start, then a counter.
func firstSessionID(start time.Time) int64 {
	const serverID = 1
	return int64(uint64(start.UnixMilli())<<24>>8) | serverID<<56
}

// beginLocked adds a session.
func (t *sessionTable) beginLocked(c *cluster) *session {
	t.last++
	sess := &session{id: t.last, cluster: c}
	t.sessions[sess.id] = sess
	return sess
}

// forgetLocked removes a session that has ended.
func (t *sessionTable) forgetLocked(sess *session) {
	delete(t.sessions, sess.id)
	delete(t.pausedSessions, sess.id)
	delete(t.moving, sess.id) // every member may answer that the session is over
}

// oldestFirstLocked returns the sessions in the order in which they began.
func (t *sessionTable) oldestFirstLocked() []*session {
	if len(t.sessions) == 0 {
		return nil
	}
	list := make([]*session, 0, len(t.sessions))
	for _, id := range slices.Sorted(maps.Keys(t.sessions)) {
		list = append(list, t.sessions[id])
	}
	return list
}
