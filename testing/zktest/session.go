package zktest

import (
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
	conn     *conn // nil while the client is disconnected
}

const passwordSize = 16

// password proves that a client owns a session. It is derived from the id, so
// that the server need not keep it, and from a secret: servers that begin in the
// same millisecond have the same ids, and must not take each other's clients in.
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

// newSession begins a session, which is a transaction on a real server.
func (s *Server) newSession() *session {
	s.zxid++
	s.lastSession++
	sess := &session{id: s.lastSession}
	s.sessions[sess.id] = sess
	return sess
}

// touch moves the session's deadline: the client has been heard of.
func (s *Server) touch(sess *session) {
	sess.deadline = time.Now().Add(sess.timeout)
	if tick := s.cfg.tick; tick > 0 {
		sess.deadline = sess.deadline.Truncate(tick).Add(tick)
	}
}

// watchOver arms the session's alarm. Requests only move the deadline, which is
// cheap; the alarm finds that out when it goes off, and is set again.
func (s *Server) watchOver(sess *session) {
	sess.expiry.stop()
	sess.expiry = s.after(time.Until(sess.deadline), func() { s.checkExpiry(sess) })
}

func (s *Server) checkExpiry(sess *session) {
	s.mu.Lock()
	defer s.unlock()
	switch {
	case s.closed || s.stopped || s.sessions[sess.id] != sess:
	case time.Now().Before(sess.deadline):
		s.watchOver(sess)
	default:
		s.expire(sess)
	}
}

// expire ends a session that the client did not close.
func (s *Server) expire(sess *session) {
	s.endSession(sess)
	if sess.conn != nil {
		sess.conn.sever()
	}
}

// endSession deletes a session and its ephemeral nodes in one transaction, of
// which its own watches still hear.
func (s *Server) endSession(sess *session) {
	delete(s.sessions, sess.id)
	sess.expiry.stop()
	s.commit(nil, func(tx *txn) Code {
		for _, path := range s.tree.ephemeralsOf(sess.id) {
			tx.remove(path)
		}
		return ok
	})
	if sess.conn != nil {
		s.watches.removeConn(sess.conn) // and not only when the answer to its closing has gone out
	}
}

// alarm is a timer whose function Server.Close waits for.
type alarm struct {
	timer *time.Timer
	srv   *Server
}

func (s *Server) after(d time.Duration, do func()) *alarm {
	s.wg.Add(1)
	return &alarm{srv: s, timer: time.AfterFunc(d, func() {
		defer s.wg.Done()
		do()
	})}
}

// stop prevents the function from being called, unless that has begun already.
func (a *alarm) stop() {
	if a != nil && a.timer.Stop() {
		a.srv.wg.Done()
	}
}
