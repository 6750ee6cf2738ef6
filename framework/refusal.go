package framework

import (
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/reason"
)

// refusal is what a client knows of servers that refuse its credentials. If
// only some servers do, they are out of order, and the client uses the others.
// If in a whole round over the servers none has let us in, and one refuses our
// credentials, operations fail at once, because waiting does not help them.
type refusal struct {
	last    error         // the last refusal in this round, or nil
	failing error         // the refusal for which signal is closed, or nil
	signal  chan struct{} // closed while operations are to fail
	pauses  backoff.BackOff
}

// Pauses between rounds while there is no session to lose. They are long,
// because only an operator can make the credentials good.
const (
	shortestRefusedPause = time.Second
	longestRefusedPause  = 30 * time.Second
)

func newRefusal() refusal {
	return refusal{signal: make(chan struct{}), pauses: newPauses(shortestRefusedPause, longestRefusedPause)}
}

// attempted notes how an attempt to connect has ended.
func (r *refusal) attempted(err error) {
	var auth *transport.AuthError
	switch {
	case err == nil:
		r.last = nil
		r.reopen()
		r.pauses.Reset()
	case reason.As(err, &auth):
		r.last = err
	}
}

// roundOver returns how long to wait before the next round, and whether
// operations begin to fail now.
func (r *refusal) roundOver() (pause time.Duration, begins bool) {
	if r.last == nil {
		r.reopen()
		return 0, false
	}
	begins = r.failing == nil
	if begins {
		close(r.signal)
	}
	r.failing, r.last = r.last, nil
	return r.pauses.NextBackOff(), begins
}

func (r *refusal) reopen() {
	if r.failing != nil {
		r.failing, r.signal = nil, make(chan struct{})
	}
}
