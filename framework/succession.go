package framework

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

// succession decides how long to wait before the next session. A server that
// grants sessions and loses them at once, again and again, or a balancer
// between two ensembles, must not be asked for the next one without a pause:
// each takes a handshake, and the library allocates one and a half megabytes
// for it.
type succession struct {
	pauses backoff.BackOff
	losses int // of sessions that have not lived for a while, one after the other
}

const (
	// settledSession is how long a session lives at least that is none of a storm.
	settledSession = longestRoundPause

	shortestSuccessionPause = 100 * time.Millisecond
	longestSuccessionPause  = 10 * time.Second
)

func newSuccession() *succession {
	return &succession{pauses: backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(shortestSuccessionPause),
		backoff.WithMaxInterval(longestSuccessionPause),
		backoff.WithMultiplier(2),
		backoff.WithMaxElapsedTime(0),
	)}
}

// after returns the pause after a session that has lived for a time, or 0 if it
// has never been connected. The first loss is followed by a session at once:
// whoever waits for it has lost enough already.
func (s *succession) after(lived time.Duration) time.Duration {
	if lived >= settledSession {
		s.pauses.Reset()
		s.losses = 0
		return 0
	}
	s.losses++
	switch {
	case lived == 0: // a server that rejects new sessions
		return max(s.pauses.NextBackOff(), longestRoundPause)
	case s.losses == 1:
		return 0
	default:
		return s.pauses.NextBackOff()
	}
}
