package zktest

// CutAll closes every connection. The clients of black holes do not see the
// end.
func (s *Server) CutAll() {
	s.mu.Lock()
	defer s.unlock()
	for _, c := range s.conns.inOrder() {
		c.closeByServerLocked()
	}
}

// RefuseConnections makes dialing fail, or work again. Existing connections
// stay. Over TCP on other systems than Linux the port stays open, and new
// connections are closed at once.
func (s *Server) RefuseConnections(on bool) {
	s.mu.Lock()
	defer s.unlock()
	s.refusing = on
	s.updatePortLocked()
}

// BlackholeAll does as [Session.Blackhole] to all connections, present and
// future.
func (s *Server) BlackholeAll() {
	s.mu.Lock()
	defer s.unlock()
	s.blackHole = true
	s.updatePortLocked()
	for _, c := range s.conns.inOrder() {
		c.blackHoleLocked()
	}
}

// Heal ends every black hole, those made by actions such as [Blackhole]
// included: they are reset, and new ones work. Only a [Host] that is isolated stays so.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.unlock()
	s.blackHole = false
	s.updatePortLocked()
	for _, c := range s.conns.inOrder() {
		if c.blackHole && (c.host == nil || !c.host.isolated) {
			c.resetLocked()
		}
	}
}
