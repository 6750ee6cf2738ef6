package framework

import (
	"time"

	"github.com/gocurator/curator/framework/internal/connstate"
)

// superviseDeadline ends the session when its time is up and returns when it
// has ended, for whatever reason.
//
// Go's timers stand still while the machine is suspended, so that none of them
// is right afterwards. While there is a session to lose, superviseDeadline
// reads the suspend clock as well, often enough to notice soon.
func (s *Session) superviseDeadline() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		left, established := s.timeLeft()
		switch {
		case left <= 0 && established:
			s.end(errTimeUp)
		case left <= 0: // there is nothing to lose yet, but listeners are told that the time is up
			s.neverConnected()
			left = s.client.cfg.sessionTimeout
		}
		if established {
			left = min(left, suspensionPoll)
		}
		timer.Reset(max(left, 0))
		select {
		case <-s.ctx.Done():
			return
		case <-timer.C:
		case <-s.wake:
		}
		s.noticeSuspension()
	}
}

// noticeSuspension checks whether the machine was suspended since the last
// call. If so, that makes earlier contact with the server older by as much.
// Contact by later requests is not affected.
func (s *Session) noticeSuspension() {
	now := s.client.cfg.suspended()
	s.suspendMu.Lock()
	defer s.suspendMu.Unlock()
	if d := now - s.suspended; d > shortestSuspension {
		s.link.Suspended(d)
		s.suspended = now
	}
}

const (
	// suspensionPoll is how often the suspend clock is read.
	suspensionPoll = time.Second

	// shortestSuspension is longer than what readings of a clock differ by.
	shortestSuspension = 50 * time.Millisecond
)

// timeLeft returns how long the session can still be trusted. Before it is
// established that is the time until the server would have ended it.
func (s *Session) timeLeft() (left time.Duration, established bool) {
	silence, timeout := s.link.SinceLastContact()
	if timeout == 0 {
		return time.Until(s.begun.Add(s.client.cfg.sessionTimeout)), false
	}
	return timeout - s.client.cfg.margin(timeout) - silence, true
}

// neverConnected tells listeners that the server would have ended the session, if
// there were one. It does nothing if there is one by now, connected or not: that
// is not lost before its own time.
func (s *Session) neverConnected() {
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.established.IsZero() && !s.isOverLocked() {
		c.publishLocked(c.machine.Apply(connstate.Expired()))
	}
}

// IsInTime reports whether the session can be trusted now. Its context ends a
// moment after its time is up: when its goroutine has noticed that, which takes
// up to a second on a machine that was suspended. IsInTime is for code that is
// about to build on the session without a request, whose answer would tell.
func (s *Session) IsInTime() bool {
	s.noticeSuspension()
	left, established := s.timeLeft()
	return established && left > 0 && s.ctx.Err() == nil
}
