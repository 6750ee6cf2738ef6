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

// expireIfOverdueLocked does nothing while there is nobody to decide: the next
// leader looks after all sessions.
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
// session's own watches still get the events. closer is the connection that asks
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

// sessionTable is who the clients of a cluster are.
type sessionTable struct {
	secret uint64 // the passwords are derived from it; constant

	// The rest is guarded by the monitor of the cluster.
	last     int64 // the id given last
	sessions map[int64]*session

	// These are nil until there is one.
	replaced       map[int64]struct{} // sessions that the next handshake replaces silently
	pausedSessions map[int64]struct{} // sessions whose requests wait
	moving         map[int64]*Member  // the members that sessions are to go to
}

func newSessionTable(cfg config) sessionTable {
	return sessionTable{
		secret: secretOf(cfg), last: firstSessionID(time.Now()), sessions: make(map[int64]*session),
	}
}

// secretOf returns what passwords of sessions are made of. With a chaos plan
// from the beginning, it depends on the seed, so that the same seed gives the
// same run.
func secretOf(cfg config) uint64 {
	if cfg.plan != nil {
		return cfg.plan.Seed
	}
	return rand.Uint64()
}

const passwordSize = 16

// password proves that a client owns a session. It is derived from the id, so
// that the server need not keep it, and from a secret: servers that begin in
// the same millisecond have the same ids, and must not take each other's
// clients in.
func (t *sessionTable) password(id int64) []byte {
	sum := sha1.Sum(binary.BigEndian.AppendUint64(nil, uint64(id)^t.secret))
	return sum[:passwordSize]
}

// firstSessionID makes ids as ZooKeeper does: the server's number in the top
// byte, then the time of its start, then a counter.
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

// forgetLocked takes a session out that has ended.
func (t *sessionTable) forgetLocked(sess *session) {
	delete(t.sessions, sess.id)
	delete(t.pausedSessions, sess.id)
	delete(t.moving, sess.id) // every member may say that it is over
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
