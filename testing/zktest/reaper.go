package zktest

import (
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// scheduleReaperLocked arms the timer for the next look, if there is something
// to look at. Looks are at whole intervals since the server began.
func (s *Server) scheduleReaperLocked() {
	tree, _ := s.madeLocked()
	if s.reaper != nil || s.stopped || s.closed || !tree.Reapable() {
		return
	}
	interval := s.cfg.reapInterval
	wait := interval - time.Since(s.born)%interval
	var own *alarm
	own = s.afterLocked(wait, func() {
		s.mu.Lock()
		defer s.unlock()
		if s.reaper != own {
			return // the server was stopped while this alarm was going off
		}
		s.reaper = nil
		if s.leaderServerLocked() == s && s.writableLocked() && !s.paused {
			s.reapLocked()
			s.scheduleReaperLocked()
		}
	})
	s.reaper = own
}

// ReapContainers deletes empty containers and outdated nodes with a TTL now.
// The server, in an ensemble its leader, does this by itself, see
// [WithContainerCheckInterval]. A
// container that becomes empty by it is deleted the next time only, as on a
// real server. It returns the number of nodes deleted.
func (s *Server) ReapContainers() int {
	s.mu.Lock()
	defer s.unlock()
	if !s.writableLocked() {
		return 0
	}
	return s.leaderServerLocked().reapLocked()
}

func (s *Server) reapLocked() int {
	tree, _ := s.madeLocked()
	doomed := tree.Outdated(s.clock.nowMillis())
	for _, path := range doomed {
		s.commitLocked(nil, func(tx *datatree.Txn) wire.Code {
			tx.Remove(path)
			return wire.OK
		})
	}
	return len(doomed)
}
