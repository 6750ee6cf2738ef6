package zktest

import (
	"slices"
)

// Session is a handle on one session, for faults. The handle is valid before, during and
// after the life of the session. All methods may be called from any goroutine.
//
//	srv.Session(client.SessionID()).Expire()
//
// A handle of an [Ensemble] or of a [Member] finds the session at every member. For
// Expire, a member's handle needs a leader that the member can reach.
//
// Methods that do not find a session or a connection do nothing and return false.
type Session struct {
	id      int64
	cluster *cluster
	servers []*Server // for Expire, one of these servers must reach the leader
}

// Session returns a handle on the session with the id, even if the session does not
// exist.
func (s *Server) Session(id int64) *Session {
	return &Session{id: id, cluster: s.cluster, servers: []*Server{s}}
}

// Session returns a handle on the session with the id at any member, even if the session
// does not exist.
func (e *Ensemble) Session(id int64) *Session {
	return &Session{id: id, cluster: e.cluster, servers: e.servers()}
}

// Expire ends the session as its timeout would: one transaction deletes the ephemeral
// nodes, watches fire, and the connection is closed. Expire returns false if the session
// does not exist, or if an ensemble has no leader.
//
// The client gets no warning. With a real server, that happens only if another client
// closes the session, or if the server's clock jumps. Until the client learns of the
// loss, the old holder of a lock and the next holder overlap, and only a fencing token
// tells them apart. [Host.LoseSessions] is the usual loss of a session, by a cut that is
// longer than the session timeout.
func (s *Session) Expire() bool {
	s.cluster.mu.Lock()
	defer s.cluster.unlock()
	sess := s.cluster.sessions[s.id]
	if sess == nil || !slices.ContainsFunc(s.servers, (*Server).writableLocked) {
		return false
	}
	sess.endLocked(nil)
	return true
}

// replace implements ReplaceSession of package zkinside.
func (s *Session) replace() bool {
	s.cluster.mu.Lock()
	defer s.cluster.unlock()
	if s.cluster.replaced == nil {
		s.cluster.replaced = make(map[int64]struct{})
	}
	s.cluster.replaced[s.id] = struct{}{}
	return s.cluster.sessions[s.id] != nil
}

// Cut closes the connection of the session. The session lives on until its timeout, and
// the client may reconnect. The client of a black hole does not notice the end. Cut
// returns false if there is no connection.
func (s *Session) Cut() bool {
	return s.withConn((*conn).closeByServerLocked)
}

// Blackhole makes the connection of the session a black hole: the connection stays open,
// but the server drops everything that the client sends, and sends nothing, not even the
// end of the connection. The session expires after its timeout. New connections of the
// client work, so the client reconnects when it notices the black hole. [Host.Isolate]
// also cuts off new connections. [Server.Heal] ends the black hole. Blackhole returns
// false if there is no connection.
func (s *Session) Blackhole() bool { return s.withConn((*conn).blackHoleLocked) }

// withConn calls a function with the connection of the session, if there is one.
func (s *Session) withConn(do func(*conn)) bool {
	s.cluster.mu.Lock()
	defer s.cluster.unlock()
	sess := s.cluster.sessions[s.id]
	if sess == nil || sess.connLocked() == nil {
		return false
	}
	do(sess.connLocked())
	return true
}

// pause implements PauseSession of package zkinside.
func (s *Session) pause() bool {
	s.cluster.mu.Lock()
	defer s.cluster.unlock()
	if s.id == 0 {
		return false // 0 is the session id in the handshakes of new clients
	}
	if s.cluster.pausedSessions == nil {
		s.cluster.pausedSessions = make(map[int64]struct{})
	}
	s.cluster.pausedSessions[s.id] = struct{}{}
	return s.cluster.sessions[s.id] != nil
}

// resume implements ResumeSession of package zkinside.
func (s *Session) resume() bool {
	s.cluster.mu.Lock()
	defer s.cluster.unlock()
	_, paused := s.cluster.pausedSessions[s.id]
	delete(s.cluster.pausedSessions, s.id)
	return paused
}

// moveTo implements MoveSession of package zkinside.
func (s *Session) moveTo(m *Member) bool {
	s.cluster.mu.Lock()
	defer s.cluster.unlock()
	sess := s.cluster.sessions[s.id]
	if sess == nil || m == nil || m.cluster != s.cluster || m.closed {
		return false
	}
	if m.moving == nil {
		m.moving = make(map[int64]*Member)
	}
	m.moving[s.id] = m
	if c := sess.connLocked(); c != nil {
		c.closeByServerLocked()
	}
	return true
}

// member returns the member to which the session is connected. It returns nil if there
// is no connection, and for a standalone server.
func (s *Session) member() *Member {
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	if sess := s.cluster.sessions[s.id]; sess != nil && sess.connLocked() != nil {
		return sess.connLocked().srv.member
	}
	return nil
}

// ephemerals implements Ephemerals of package zkinside.
func (s *Session) ephemerals() []string {
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	latest := s.servers[0]
	for _, srv := range s.servers {
		if srv.zxid > latest.zxid {
			latest = srv
		}
	}
	return latest.tree.EphemeralsOf(s.id)
}
