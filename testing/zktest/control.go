package zktest

import "time"

// ExpireSession ends a session as its timeout would: one transaction deletes its
// ephemeral nodes, watchers are notified, and its connection is closed. It
// reports whether there was such a session.
func (s *Server) ExpireSession(id int64) bool {
	s.mu.Lock()
	defer s.unlock()
	sess := s.sessions[id]
	if sess == nil {
		return false
	}
	s.expire(sess)
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
	return s.withConn(id, (*conn).closeLocked)
}

// CutAll closes every connection.
func (s *Server) CutAll() {
	s.mu.Lock()
	defer s.unlock()
	for c := range s.conns {
		c.closeLocked()
	}
}

// RefuseConnections makes dialing fail, or work again. Existing connections stay.
// Over TCP, where the port stays open, new connections are closed at once.
func (s *Server) RefuseConnections(on bool) {
	s.mu.Lock()
	defer s.unlock()
	s.refusing = on
}

// Partition makes the connection of a session a black hole: it stays open, but
// what the client sends is swallowed and nothing is sent to it, not even its end.
// The server goes on and will expire the session in time. New connections of the
// same client work. It reports whether there was a connection. See [Server.Heal].
func (s *Server) Partition(id int64) bool {
	return s.withConn(id, (*conn).blackHole)
}

// PartitionAll does as [Server.Partition] to all connections, present and future.
func (s *Server) PartitionAll() {
	s.mu.Lock()
	defer s.unlock()
	s.partitioned = true
	for c := range s.conns {
		c.blackHole()
	}
}

// Heal ends every black hole, those made by [Mute] and [MuteReply] included:
// their connections are reset, and new ones work.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.unlock()
	s.partitioned = false
	for c := range s.conns {
		if c.mute {
			c.reset()
		}
	}
}

// Stop is the server's process going down: connections are closed, new ones are
// refused, and no session expires. Nodes and sessions are kept for [Server.Start].
// A client behind a partition learns of it only by [Server.Heal].
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.unlock()
	s.stopped = true
	for c := range s.conns {
		c.sever()
	}
	s.stopClocks()
}

// Start is the server's process coming up again with its data. As on a real
// server, which does not store when clients were last heard of, every session
// gets its full timeout again.
func (s *Server) Start() {
	s.mu.Lock()
	defer s.unlock()
	if !s.stopped || s.closed {
		return
	}
	s.stopped = false
	for _, sess := range s.sessions {
		s.touch(sess)
		s.watchOver(sess)
	}
	s.scheduleReaper()
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

// reapInterval is how often a real server looks for containers and nodes with a
// TTL to delete.
const reapInterval = time.Minute

// scheduleReaper arms the timer for the next look, if there is something to look
// at. Looks are at whole intervals since the server began. s.mu is held.
func (s *Server) scheduleReaper() {
	if s.reaper != nil || s.stopped || s.closed || len(s.tree.reapable) == 0 {
		return
	}
	wait := reapInterval - time.Since(s.born)%reapInterval
	var own *alarm
	own = s.after(wait, func() {
		s.mu.Lock()
		defer s.unlock()
		if s.reaper != own {
			return // the server was stopped while this alarm was going off
		}
		s.reaper = nil
		s.reap()
		s.scheduleReaper()
	})
	s.reaper = own
}

// ReapContainers deletes empty containers and outdated nodes with a TTL now. The
// server does this by itself once a minute. A container that becomes empty by it
// is deleted the next time only, as on a real server. It returns the number of
// nodes deleted.
func (s *Server) ReapContainers() int {
	s.mu.Lock()
	defer s.unlock()
	return s.reap()
}

func (s *Server) reap() int {
	doomed := s.tree.outdated(nowMillis())
	for _, path := range doomed {
		s.commit(nil, func(tx *txn) Code {
			tx.remove(path)
			return ok
		})
	}
	return len(doomed)
}
