package zktest

import (
	"slices"
)

// Session is a handle on one session: methods that do something to it, and
// methods that look at it. The handle is valid before, during and after the
// life of the session. All methods may be called from any goroutine.
//
//	srv.Session(client.SessionID()).Expire()
//
// A handle of an [Ensemble] finds the session at whichever member it is, and
// Watches and Ephemerals show the whole ensemble. A handle of a [Member] does
// the same, but Watches and Ephemerals show what that member has, and Expire
// needs a leader that this member can reach.
//
// Methods that find nothing to work on do nothing and return false.
type Session struct {
	id      int64
	cluster *cluster
	servers []*Server // what Watches and Ephemerals show
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

// ID returns the session's id.
func (s *Session) ID() int64 { return s.id }

// Expire ends the session as its timeout would: one transaction deletes its
// ephemeral nodes, watchers are notified, and its connection is closed. It
// returns false if there is no such session, or in an ensemble no leader to end
// it.
//
// The client gets no warning. On a real server that happens only if another
// client closes the session, or if the server's clock jumps. Until the client
// has heard of it, an old holder of a lock and the next one overlap, and only a
// fencing token keeps them apart.
// [Host.LoseSessions] takes a session away in the usual way: the client is cut
// off for longer than its timeout.
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

// Replace makes the server forget whose session it is. The next client
// that wants to take it up gets a new session without being told, where a
// correct server would say "expired" or give the old one back. Some
// re-implementations of ZooKeeper have done that. If the session is alive, it
// is left to its timeout. Replace also works for a session that has ended. It
// reports whether the session is alive.
func (s *Session) Replace() bool {
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
// but what the client sends is swallowed, and nothing is sent to the client,
// not even the end of the connection. The server will expire the session in
// time. New connections of the same client work, so that it is back as soon as
// it has noticed; [Host.Isolate] cuts a client off for longer. [Server.Heal]
// ends the black hole. Blackhole returns false if there is no connection.
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

// Pause makes the requests of the session wait until Resume, pings and
// handshakes included: nothing is lost, and nothing is answered. A session that
// is paused for longer than its timeout expires. Pause also holds up the
// handshake of a session that has ended. It reports whether the session is
// alive.
func (s *Session) Pause() bool {
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

// Resume carries out what has waited, and ends the pause. It returns false if
// there is none: the end of the session has ended it, too.
func (s *Session) Resume() bool {
	s.cluster.mu.Lock()
	defer s.cluster.unlock()
	_, paused := s.cluster.pausedSessions[s.id]
	delete(s.cluster.pausedSessions, s.id)
	return paused
}

// MoveTo brings the session to another member of its ensemble: its connection
// is closed, and until the client has come to that member the others hang up on
// it, as if they were down. MoveTo returns false if there is no such session,
// or if the member is closed or of another ensemble.
func (s *Session) MoveTo(m *Member) bool {
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

// Member returns the member of the ensemble that the session is connected to.
// It returns nil without a connection, and for a standalone server.
func (s *Session) Member() *Member {
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	if sess := s.cluster.sessions[s.id]; sess != nil && sess.connLocked() != nil {
		return sess.connLocked().srv.member
	}
	return nil
}

// Watches returns the watches of the session, by path, then kind; nil if there
// are none.
func (s *Session) Watches() []Watch {
	var list []Watch
	for _, srv := range s.servers {
		list = append(list, srv.Watches()...)
	}
	list = slices.DeleteFunc(list, func(w Watch) bool { return w.Session != s.id })
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, compareWatches)
	return list
}

// Ephemerals returns the paths of the ephemeral nodes of the session, sorted;
// nil if there are none. An ensemble shows those at the server that has applied
// most.
func (s *Session) Ephemerals() []string {
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
