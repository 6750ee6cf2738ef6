package zktest

import (
	"errors"
	"fmt"
	"net"
)

// errClosed is the error of calls after Close.
var errClosed = fmt.Errorf("zktest: server closed: %w", net.ErrClosed)

var errNotRunning = errors.New("zktest: server not running")

// Stop ends the server's process, and always returns nil. To clients, Stop looks
// like a crash. The server closes its connections and refuses new ones, and no
// session expires. Nodes and sessions are kept for [Server.Restart]. A client whose
// connection is a black hole learns of the end only by [Server.Heal]. The other
// members of an ensemble notice the end at once, and continue if they have a
// majority. A server that does not run stays stopped.
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

// Restart starts the server's process with its data. It first stops a server that
// runs or is paused. Every session gets its full timeout again, because a server
// does not store the times of its clients' last requests. A member of an ensemble
// looks for the leader, and catches up with the leader before it serves clients.
// After Close, Restart returns an error that matches [net.ErrClosed].
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

// Pause freezes the server's process until [Server.Resume], as a long garbage
// collection does. Connections stay open, but the server reads and answers nothing,
// and no session expires. To the other members of an ensemble, the server seems to
// be cut off. For a server that is stopped or closed, Pause returns an error.
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

// Resume continues a paused server. Sessions whose timeout has passed expire first,
// even if requests of their clients are waiting: a server that wakes up reads its
// clock before its connections. A follower that was paused for longer than the sync
// limit leaves its leader, and a leader steps down. Resume has no effect on a server
// that is not paused, and returns an error for a server that is stopped or closed.
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

// resumeLocked lets a paused member find out what has happened during the pause.
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

// CutAll closes every connection. Clients whose connections are black holes do not
// notice the end.
func (s *Server) CutAll() {
	s.mu.Lock()
	defer s.unlock()
	for _, c := range s.conns.inOrder() {
		c.closeByServerLocked()
	}
}

// RefuseConnections makes the server refuse new connections, or accept them again.
// Existing connections stay. On Linux, dialing fails. On other systems, a TCP port
// stays open, and the server closes new connections at once.
func (s *Server) RefuseConnections(on bool) {
	s.mu.Lock()
	defer s.unlock()
	s.refusing = on
	s.updatePortLocked()
}

// BlackholeAll makes all present and future connections black holes; see
// [Session.Blackhole].
func (s *Server) BlackholeAll() {
	s.mu.Lock()
	defer s.unlock()
	s.blackHole = true
	s.updatePortLocked()
	for _, c := range s.conns.inOrder() {
		c.blackHoleLocked()
	}
}

// Heal ends every black hole, including the black holes of actions such as
// [Blackhole]: their connections are reset, and new connections work. A [Host] that
// is isolated stays isolated.
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
