package zktest

import "time"

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
	if !s.writable() {
		return false
	}
	s.endSession(sess, nil)
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
	return s.withConn(id, func(c *conn) { c.end((*conn).closeLocked) })
}

// CutAll closes every connection.
func (s *Server) CutAll() {
	s.mu.Lock()
	defer s.unlock()
	for _, c := range s.inOrder() {
		c.end((*conn).closeLocked)
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
// same client work, so that it is back as soon as it has noticed; [Host.Isolate] cuts a
// client off for longer. It reports whether there was a connection. See [Server.Heal].
func (s *Server) Partition(id int64) bool {
	return s.withConn(id, (*conn).blackHole)
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
	return s.withConn(id, (*conn).silence)
}

// PartitionAll does as [Server.Partition] to all connections, present and future.
func (s *Server) PartitionAll() {
	s.mu.Lock()
	defer s.unlock()
	s.partitioned = true
	for _, c := range s.inOrder() {
		c.blackHole()
	}
}

// Heal ends every black hole, and every connection of which one direction is dead,
// those made by [Mute], [MuteReply], [Deafen] and [Silence] included: they are reset,
// and new ones work. Only a [Host] that is isolated stays so.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.unlock()
	s.partitioned = false
	for _, c := range s.inOrder() {
		if c.broken() && (c.host == nil || !c.host.isolated) {
			c.reset()
		}
	}
}

// Stop is the server's process going down: connections are closed, new ones are
// refused, and no session expires. Nodes and sessions are kept for [Server.Start].
// A client behind a partition learns of it only by [Server.Heal]. If it is a member of
// an ensemble, the others see at once that it is gone, and go on if they can.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.unlock()
	s.stopped = true
	for _, c := range s.inOrder() {
		c.sever()
	}
	s.reaper.stop()
	s.reaper = nil
	if s.member != nil {
		s.member.ens.update()
	}
}

// Start is the server's process coming up again with its data. As on a real
// server, which does not store when clients were last heard of, every session
// gets its full timeout again. A member of an ensemble looks for the leader, and
// catches up with it before it serves.
func (s *Server) Start() {
	s.mu.Lock()
	defer s.unlock()
	if !s.stopped || s.closed {
		return
	}
	s.stopped = false
	if s.member != nil {
		s.member.ens.update()
		return
	}
	for _, sess := range s.oldestFirst() {
		s.touch(sess)
		s.watchOver(sess)
	}
	s.scheduleReaper()
}

// Freeze stops the server's process without ending it, as a long pause of its garbage
// collector does: connections stay open, but nothing is read or answered, and no
// session expires. To the other members of an ensemble it is as if it were cut off. It
// ends with [Server.Thaw].
func (s *Server) Freeze() {
	s.mu.Lock()
	defer s.unlock()
	s.frozen = true
	if s.member != nil {
		s.member.ens.update()
	}
}

// Thaw lets a frozen server go on. First the sessions expire whose time has passed,
// although requests of their clients may be waiting: a server that wakes up looks at
// its clock before it looks at its connections. A member of an ensemble that was frozen
// for longer than the sync limit gives up its leader, or its office.
func (s *Server) Thaw() {
	s.mu.Lock()
	defer s.unlock()
	if !s.frozen {
		return
	}
	s.frozen = false
	if s.member != nil {
		s.member.thaw()
		return
	}
	for _, sess := range s.oldestFirst() {
		s.expireIfOverdue(sess)
	}
	s.scheduleReaper()
}

// PauseSession makes the requests of a session wait, pings and handshakes included,
// until [Server.ResumeSession]: nothing is lost, and nothing is answered. A session
// that is paused for longer than its timeout expires.
func (s *Server) PauseSession(id int64) {
	s.mu.Lock()
	defer s.unlock()
	s.paused[id] = struct{}{}
}

// ResumeSession carries out what has waited, and ends the pause.
func (s *Server) ResumeSession(id int64) {
	s.mu.Lock()
	defer s.unlock()
	delete(s.paused, id)
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
	wait := reapInterval - s.clock.Now().Sub(s.born)%reapInterval
	var own *alarm
	own = s.after(wait, func() {
		s.mu.Lock()
		defer s.unlock()
		if s.reaper != own {
			return // the server was stopped while this alarm was going off
		}
		s.reaper = nil
		if s.head() == s && s.writable() && !s.frozen {
			s.reap()
			s.scheduleReaper()
		}
	})
	s.reaper = own
}

// ReapContainers deletes empty containers and outdated nodes with a TTL now. The
// server does this by itself once a minute, in an ensemble its leader. A container that becomes empty by it
// is deleted the next time only, as on a real server. It returns the number of
// nodes deleted.
func (s *Server) ReapContainers() int {
	s.mu.Lock()
	defer s.unlock()
	if !s.writable() {
		return 0
	}
	return s.head().reap()
}

func (s *Server) reap() int {
	doomed := s.tree.outdated(s.nowMillis())
	for _, path := range doomed {
		s.commit(nil, func(tx *txn) Code {
			tx.remove(path)
			return ok
		})
	}
	return len(doomed)
}
