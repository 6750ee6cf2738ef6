package zktest

import (
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// reaper deletes what is empty or outdated, on behalf of a server that makes
// transactions.
type reaper struct {
	srv  *Server
	next *alarm
}

// scheduleLocked sets the alarm for the next look, if there is something to
// look at. Looks are at whole intervals since the server began.
func (r *reaper) scheduleLocked() {
	s := r.srv
	tree, _ := s.madeLocked()
	if r.next != nil || !s.upLocked() || !tree.Reapable() {
		return
	}
	interval := s.cfg.reapInterval
	wait := interval - time.Since(s.born)%interval
	var own *alarm
	own = s.afterLocked(wait, func() {
		s.mu.Lock()
		defer s.unlock()
		if r.next != own {
			return // the server was stopped while this alarm was going off
		}
		r.next = nil
		if s.leaderServerLocked() == s && s.writableLocked() && !s.paused {
			r.reapLocked()
			r.scheduleLocked()
		}
	})
	r.next = own
}

func (r *reaper) stopLocked() {
	r.next.stop()
	r.next = nil
}

// reapLocked returns how many nodes it has deleted.
func (r *reaper) reapLocked() int {
	tree, _ := r.srv.madeLocked()
	doomed := tree.Outdated(r.srv.cfg.wallClock().UnixMilli())
	for _, path := range doomed {
		r.srv.commitLocked(nil, func(tx *datatree.Txn) wire.Code {
			tx.Remove(path)
			return wire.OK
		})
	}
	return len(doomed)
}
