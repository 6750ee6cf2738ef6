package zktest

// Stop is the server's process going down: connections are closed, new ones are
// refused, and no session expires. Nodes and sessions are kept for
// [Server.Restart]. A client behind a partition learns of it only by
// [Server.Heal]. If it is a member of an ensemble, the others see at once that
// it is gone, and go on if they can.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.unlock()
	s.stopped, s.paused = true, false
	for _, c := range s.connsInOrderLocked() {
		c.closeByServerLocked()
	}
	s.reaper.stop()
	s.reaper = nil
	if s.member != nil {
		s.member.ens.updateLocked()
	}
}

// Restart is the server's process coming up again with its data. As on a real
// server, which does not store when clients were last heard of, every session
// gets its full timeout again. A member of an ensemble looks for the leader,
// and catches up with it before it serves.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.unlock()
	if !s.stopped || s.closed {
		return
	}
	s.stopped = false
	if s.member != nil {
		s.member.ens.updateLocked()
		return
	}
	for _, sess := range s.oldestFirstLocked() {
		s.extendLocked(sess)
		s.armExpiryLocked(sess)
	}
	s.scheduleReaperLocked()
}

// Pause stops the server's process without ending it, as a long pause of its
// garbage collector does: connections stay open, but nothing is read or
// answered, and no session expires. To the other members of an ensemble it is
// as if it were cut off. It ends with [Server.Resume].
func (s *Server) Pause() {
	s.mu.Lock()
	defer s.unlock()
	s.paused = true
	if s.member != nil {
		s.member.ens.updateLocked()
	}
}

// Resume lets a paused server go on. First the sessions expire whose time has
// passed, although requests of their clients may be waiting: a server that
// wakes up looks at its clock before it looks at its connections. A member of
// an ensemble that was paused for longer than the sync limit gives up its
// leader, or its office.
func (s *Server) Resume() {
	s.mu.Lock()
	defer s.unlock()
	if !s.paused {
		return
	}
	s.paused = false
	if s.member != nil {
		s.member.resumeLocked()
		return
	}
	for _, sess := range s.oldestFirstLocked() {
		s.expireIfOverdueLocked(sess)
	}
	s.scheduleReaperLocked()
}
