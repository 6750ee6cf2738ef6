package zktest

import (
	"errors"
	"fmt"
	"net"
)

// errClosed is returned after Close.
var errClosed = fmt.Errorf("zktest: server closed: %w", net.ErrClosed)

var errNotRunning = errors.New("zktest: server not running")

// Stop ends the server's process. Connections are closed, new ones are refused,
// and no session expires. Nodes and sessions are kept for [Server.Restart]. A
// client whose connection is a black hole learns of it only by [Server.Heal].
// The other members of an ensemble see at once that the server is gone, and go
// on if they can. It is no error to stop a server that does not run: the error
// is always nil.
//
// A client cannot tell Stop from a crash.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.unlock()
	s.stopLocked()
	return nil
}

func (s *Server) stopLocked() {
	s.stopped, s.paused = true, false
	s.updatePortLocked()
	for _, c := range s.conns.inOrder() {
		c.closeByServerLocked()
	}
	s.reaper.stopLocked()
	s.forgetHeldLocked()
	if s.member != nil {
		s.ens.updateLocked()
	}
}

// Restart starts the server's process with its data. A server that runs, or is
// paused, is stopped first. Every session gets its full timeout again, since a
// server does not store the last contact with a client. A member of an ensemble looks
// for the leader, and catches up with it before it serves. After Close, the error
// matches [net.ErrClosed].
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.unlock()
	if s.closed {
		return errClosed
	}
	s.stopLocked()
	s.startLocked()
	return nil
}

// startLocked starts the process of a server that is stopped.
func (s *Server) startLocked() {
	if !s.stopped || s.closed {
		return
	}
	s.stopped = false
	s.updatePortLocked()
	if s.member != nil {
		s.ens.updateLocked()
		return
	}
	for _, sess := range s.oldestFirstLocked() {
		sess.beginTimeoutLocked()
	}
	s.reaper.scheduleLocked()
}

// Pause freezes the server's process, as a long garbage collection does.
// Connections stay open, but nothing is read or answered, and no session
// expires. The other members of an ensemble see a server that is cut off. The pause
// ends with [Server.Resume]. Pause returns an error for a server that is stopped or
// closed.
func (s *Server) Pause() error {
	s.mu.Lock()
	defer s.unlock()
	if !s.upLocked() {
		return errNotRunning
	}
	s.paused = true
	if s.member != nil {
		s.ens.updateLocked()
	}
	return nil
}

// Resume continues a paused server. The sessions whose time has passed expire
// first, although requests of their clients may be waiting: a server that wakes
// up looks at its clock before it looks at its connections. A member of an
// ensemble that was paused for longer than the sync limit gives up its leader,
// or steps down. Resume returns an error for a server that is stopped or closed, and
// nil for a server that was not paused.
func (s *Server) Resume() error {
	s.mu.Lock()
	defer s.unlock()
	if !s.upLocked() {
		return errNotRunning
	}
	if !s.paused {
		return nil
	}
	s.paused = false
	if s.member != nil {
		s.member.resumeLocked()
		return nil
	}
	for _, sess := range s.oldestFirstLocked() {
		sess.expireIfOverdueLocked()
	}
	s.carryOutHeldLocked()
	s.reaper.scheduleLocked()
	return nil
}

// resumeLocked lets a paused member find out what it has slept through.
func (m *Member) resumeLocked() {
	if m.disconnectedInPause && !m.connectedLocked() {
		m.startLookingLocked()
	}
	m.disconnectedInPause = false
	if m.ens.leader == m {
		m.ens.hadMajority = false // look after the sessions
	}
	m.ens.updateLocked()
	m.applyDueLocked()
}

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

// BlackholeAll makes all present and future connections black holes, as
// [Session.Blackhole] does for one.
func (s *Server) BlackholeAll() {
	s.mu.Lock()
	defer s.unlock()
	s.blackHole = true
	s.updatePortLocked()
	for _, c := range s.conns.inOrder() {
		c.blackHoleLocked()
	}
}

// Heal ends every black hole, including the black holes of actions such as [Blackhole]:
// their connections are reset, and new connections work. An isolated [Host] stays
// isolated.
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
