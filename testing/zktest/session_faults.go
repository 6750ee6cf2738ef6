package zktest

// ExpireSession ends a session as its timeout would: one transaction deletes its
// ephemeral nodes, watchers are notified, and its connection is closed. It
// reports whether there was such a session, and in an ensemble a leader in reach to
// end it.
//
// It does so at once, while the client is well and has no reason to expect it. A server
// does that only when somebody else closes the session, or when its clock leaps. Until
// the client has heard of it, an old holder of a lock and the next one overlap; only a
// fencing token keeps them apart. To see what a client does that loses its session in
// the usual way, cut off for longer than its timeout, use [Host.LoseSessions].
func (s *Server) ExpireSession(id int64) bool {
	s.mu.Lock()
	defer s.unlock()
	sess := s.sessions[id]
	if sess == nil {
		return false
	}
	if !s.writableLocked() {
		return false
	}
	s.endSessionLocked(sess, nil)
	return true
}

// ReplaceSession makes the server forget whom the session belongs to: the next
// client that wants to take it up gets a new session without being told, where a
// correct server would say "expired" or give it the old one back. Some
// re-implementations of ZooKeeper have done that. The old session, if it still
// exists, is left to its timeout.
func (s *Server) ReplaceSession(id int64) {
	s.mu.Lock()
	defer s.unlock()
	s.replaced[id] = struct{}{}
}

// CutSession closes the connection of a session; the session lives on until its
// timeout. It reports whether there was a connection.
func (s *Server) CutSession(id int64) bool {
	return s.withConn(id, func(c *conn) { c.closeInTransitLocked((*conn).closeLocked) })
}

// Partition makes the connection of a session a black hole: it stays open, but
// what the client sends is swallowed and nothing is sent to it, not even its end.
// The server goes on and will expire the session in time. New connections of the
// same client work, so that it is back as soon as it has noticed; [Host.Isolate] cuts a
// client off for longer. It reports whether there was a connection. See [Server.Heal].
func (s *Server) Partition(id int64) bool {
	return s.withConn(id, (*conn).blackHoleLocked)
}

// Deafen makes the connection of a session half-open: nothing that the client sends
// arrives any more, and it is still told of watch events. The server will expire the
// session in time. It reports whether there was a connection. See [Server.Heal].
func (s *Server) Deafen(id int64) bool {
	return s.withConn(id, func(c *conn) { c.deaf = true })
}

// Silence makes the connection of a session half-open the other way: what the client
// sends is carried out, and keeps its session alive, but nothing is sent to it. It
// reports whether there was a connection. See [Server.Heal].
func (s *Server) Silence(id int64) bool {
	return s.withConn(id, (*conn).muteOutputLocked)
}

// PauseSession makes the requests of a session wait, pings and handshakes included,
// until [Server.ResumeSession]: nothing is lost, and nothing is answered. A session
// that is paused for longer than its timeout expires.
func (s *Server) PauseSession(id int64) {
	s.mu.Lock()
	defer s.unlock()
	s.pausedSessions[id] = struct{}{}
}

// ResumeSession carries out what has waited, and ends the pause.
func (s *Server) ResumeSession(id int64) {
	s.mu.Lock()
	defer s.unlock()
	delete(s.pausedSessions, id)
}

// withConn does something to the connection of a session, if it has one.
func (s *Server) withConn(id int64, do func(*conn)) bool {
	s.mu.Lock()
	defer s.unlock()
	sess := s.sessions[id]
	if sess == nil || sess.conn == nil {
		return false
	}
	do(sess.conn)
	return true
}
