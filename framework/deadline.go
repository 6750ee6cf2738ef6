package framework

import (
	"time"

	"github.com/gocurator/curator/framework/internal/connstate"
)

// superviseDeadline ends the session when its time is up and returns when it
// has ended, for whatever reason.
//
// Go's timers stand still while the machine is suspended, so that none of them
// is right afterwards. While there is a session to lose, superviseDeadline looks
// at the client's clock every second.
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
	}
}

// suspensionPoll is how often the client's clock is read.
const suspensionPoll = time.Second

// now is the client's clock, which goes on while the machine is suspended. It also
// corrects stamp.
func (c *core) now() time.Time {
	slept := c.cfg.suspended()
	c.slept.Store(int64(slept))
	return time.Now().Add(slept)
}

// stamp is the client's clock for requests. It costs no call of the operating system.
// After a suspension it is late until the next call of now. So a request looks older
// than it is, and its answer proves less than it could.
func (c *core) stamp() time.Time { return time.Now().Add(time.Duration(c.slept.Load())) }

// timeLeft returns how long the session can still be trusted. Before it is
// established that is the time until the server would have ended it.
func (s *Session) timeLeft() (left time.Duration, established bool) {
	contact, timeout := s.link.LastContact()
	if timeout == 0 {
		return time.Until(s.begun.Add(s.client.cfg.sessionTimeout)), false
	}
	silence := s.client.now().Sub(contact)
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
	left, established := s.timeLeft()
	return established && left > 0 && s.ctx.Err() == nil
}
