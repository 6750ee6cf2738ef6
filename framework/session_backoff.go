package framework

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

// sessionBackoff decides how long to wait before the next session. A server
// that grants sessions and loses them at once, again and again, or a balancer
// between two ensembles, must not be asked for the next one without a pause:
// each takes a handshake, and the library allocates one and a half megabytes
// for it.
type sessionBackoff struct {
	pauses backoff.BackOff
	losses int // how many short sessions were lost in a row
}

const (
	// settledSession is how long a session must live for the pauses to begin
	// anew.
	settledSession = longestRoundPause

	shortestSessionPause = 100 * time.Millisecond
	longestSessionPause  = 10 * time.Second
)

func newSessionBackoff() *sessionBackoff {
	return &sessionBackoff{pauses: newPauses(shortestSessionPause, longestSessionPause)}
}

// after returns the pause after a session that has lived for a time, which is 0
// if it has never been connected. There is no pause after the first loss:
// callers that wait for the session have lost enough already.
func (b *sessionBackoff) after(lived time.Duration) time.Duration {
	if lived >= settledSession {
		b.pauses.Reset()
		b.losses = 0
		return 0
	}
	b.losses++
	switch {
	case lived == 0: // a server that rejects new sessions
		return max(b.pauses.NextBackOff(), longestRoundPause)
	case b.losses == 1:
		return 0
	default:
		return b.pauses.NextBackOff()
	}
}
