package zktest

import (
	"math"
	"time"
)

// SetClockOffset moves the server's wall clock by d. [Stat.Ctime] and
// [Stat.Mtime] of what it writes from now on, and the age of nodes with a TTL,
// follow the wall clock. The timeouts of sessions do not: as on a real server,
// they go by a monotonic clock, see [Server.JumpClock]. In an ensemble the
// leader's clock counts.
func (s *Server) SetClockOffset(d time.Duration) {
	s.mu.Lock()
	defer s.unlock()
	s.clock.offset = d
}

// JumpClock makes the server believe that d has passed, as after a virtual
// machine was suspended and its clocks put right: every session is nearer to
// its end by d, and those whose deadline lies in the past expire before the
// server hears of anybody. The server's wall clock is ahead by d from now on.
// For a suspended machine of clients see [Host.Suspend]. In an ensemble it is
// the leader that decides on sessions; a jump of another member moves its wall
// clock only. With a negative d the sessions get more time.
func (s *Server) JumpClock(d time.Duration) {
	s.mu.Lock()
	defer s.unlock()
	s.clock.offset += d
	if s.leaderServerLocked() != s || s.stopped || s.closed {
		return
	}
	for _, sess := range s.oldestFirstLocked() {
		sess.backdateLocked(d)
	}
}

// SetClockRate makes the clock by which the server measures the timeouts of
// sessions go wrong: with 1.1 a session of 10 s expires 9.1 s after the client
// was last heard of. It applies to a session from when the server hears of it
// the next time. In an ensemble the leader's rate counts. A rate that is not a
// positive number changes nothing: it fails the test of the server, and is an
// error for a server of [Run].
func (s *Server) SetClockRate(rate float64) error {
	if !(rate > 0) || math.IsInf(rate, 0) {
		return s.misuse("a clock rate of %v", rate)
	}
	s.mu.Lock()
	defer s.unlock()
	s.clock.rate = rate
	return nil
}
