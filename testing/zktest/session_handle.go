package zktest

import (
	"slices"
)

// Session is a handle on one session, with methods that do something to it. The
// handle is valid before, during and after the life of the session. All methods
// may be called from any goroutine.
//
//	srv.Session(client.SessionID()).Expire()
//
// A handle of an [Ensemble] or a [Member] finds the session at every member. Expire of
// a member's handle needs a leader that the member can reach.
//
// If there is no session or connection to act on, a method does nothing and returns
// false.
type Session struct {
	id      int64
	cluster *cluster
	servers []*Server // one of them has to reach the leader for Expire
}

// Session returns a handle on the session with the id, whether it exists or
// not.
func (s *Server) Session(id int64) *Session {
	return &Session{id: id, cluster: s.cluster, servers: []*Server{s}}
}

// Session returns a handle on the session with the id, whether it exists or
// not, at whichever member it is.
func (e *Ensemble) Session(id int64) *Session {
	return &Session{id: id, cluster: e.cluster, servers: e.servers()}
}

// Expire ends the session as its timeout would: one transaction deletes its
// ephemeral nodes, watchers are notified, and its connection is closed. Expire
// returns false if there is no such session, or if the ensemble has no leader.
//
// The client gets no warning. On a real server that happens only if another
// client closes the session, or if the server's clock jumps. Until the client
// learns of the end, an old holder of a lock and the next holder overlap, and only a
// fencing token tells them apart. [Host.LoseSessions] is the usual case: the client is
// cut off for longer than its timeout.
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

// replace is ReplaceSession of package zkinside.
func (s *Session) replace() bool {
	s.cluster.mu.Lock()
	defer s.cluster.unlock()
	if s.cluster.replaced == nil {
		s.cluster.replaced = make(map[int64]struct{})
	}
	s.cluster.replaced[s.id] = struct{}{}
	return s.cluster.sessions[s.id] != nil
}

// Cut closes the connection of the session. The session lives on until its
// timeout, and the client may connect again. The client of a black hole does
// not see the end. Cut returns false if there is no connection.
func (s *Session) Cut() bool {
	return s.withConn((*conn).closeByServerLocked)
}

// Blackhole makes the connection of the session a black hole. It stays open,
// but the server receives nothing from the client, and the client receives nothing,
// not even the end of the connection. The session expires after its timeout, unless
// the client opens a new connection first, which works. [Host.Isolate] cuts a client
// off for longer. [Server.Heal] ends the black hole. Blackhole returns false if there
// is no connection.
func (s *Session) Blackhole() bool { return s.withConn((*conn).blackHoleLocked) }

// withConn does something to the connection of the session, if it has one.
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

// pause is PauseSession of package zkinside.
func (s *Session) pause() bool {
	s.cluster.mu.Lock()
	defer s.cluster.unlock()
	if s.id == 0 {
		return false // the handshakes of new clients are of no session
	}
	if s.cluster.pausedSessions == nil {
		s.cluster.pausedSessions = make(map[int64]struct{})
	}
	s.cluster.pausedSessions[s.id] = struct{}{}
	return s.cluster.sessions[s.id] != nil
}

// resume is ResumeSession of package zkinside.
func (s *Session) resume() bool {
	s.cluster.mu.Lock()
	defer s.cluster.unlock()
	_, paused := s.cluster.pausedSessions[s.id]
	delete(s.cluster.pausedSessions, s.id)
	return paused
}

// moveTo is MoveSession of package zkinside.
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

// member returns the member of the ensemble that the session is connected to, nil
// without a connection and for a standalone server.
func (s *Session) member() *Member {
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	if sess := s.cluster.sessions[s.id]; sess != nil && sess.connLocked() != nil {
		return sess.connLocked().srv.member
	}
	return nil
}

// ephemerals is Ephemerals of package zkinside.
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
