package framework

import (
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/reason"
)

// attempts records the attempts to connect to each server, for Status and errors. The
// zero value is ready to use.
type attempts struct {
	byServer map[string]*serverAttempts // begin forgets all after maxServers
}

// serverAttempts are the attempts to connect to one server.
type serverAttempts struct {
	begun  int
	failed int

	// The following fields describe the newest attempt.
	last   time.Time // its start
	goesOn bool
	err    error // nil if it has connected or continues
}

// maxServers is how many servers attempts remembers, because names may resolve to ever
// new addresses.
const maxServers = 64

// begin records the start of an attempt.
func (a *attempts) begin(address string) {
	s := a.byServer[address]
	if s == nil {
		if a.byServer == nil || len(a.byServer) >= maxServers {
			a.byServer = map[string]*serverAttempts{}
		}
		s = &serverAttempts{}
		a.byServer[address] = s
	}
	s.begun++
	s.last, s.err, s.goesOn = time.Now(), nil, true
}

// connected notes that the newest attempt has succeeded.
func (a *attempts) connected(address string) {
	if s := a.byServer[address]; s != nil {
		s.err, s.goesOn = nil, false
	}
}

// failed notes that the newest attempt has failed.
func (a *attempts) failed(address string, err error) {
	if s := a.byServer[address]; s != nil && err != nil {
		s.failed++
		s.err, s.goesOn = err, false
	}
}

// silence returns for how long a server has not answered the current attempt, or 0.
func (a *attempts) silence(address string) time.Duration {
	s := a.byServer[address]
	if s == nil || !s.goesOn {
		return 0
	}
	return time.Since(s.last)
}

// refusal tracks servers that refuse the client's credentials. If only some servers
// refuse, the client uses the others. If a whole round over the servers brings no
// connection, and one server refuses the credentials, operations fail at once, because
// waiting does not help.
type refusal struct {
	last    error         // the last refusal in this round, or nil
	failing error         // the refusal for which signal is closed, or nil
	signal  chan struct{} // closed while operations must fail
	pauses  backoff.BackOff
}

// These are the pauses between rounds while there is no session to lose. The pauses are
// long, because only an operator can correct the credentials.
const (
	shortestRefusedPause = time.Second
	longestRefusedPause  = 30 * time.Second
)

func newRefusal() refusal {
	return refusal{signal: make(chan struct{}), pauses: newPauses(shortestRefusedPause, longestRefusedPause)}
}

// isRefused reports whether a server has refused the credentials, or SASL has failed
// because server or client refused the other.
func isRefused(err error) bool {
	var auth *transport.AuthError
	var authentication *sasl.Error
	return reason.As(err, &auth) || reason.As(err, &authentication)
}

// attempted records the result of an attempt to connect.
func (r *refusal) attempted(err error) {
	switch {
	case err == nil:
		r.last = nil
		r.reopen()
		r.pauses.Reset()
	case isRefused(err):
		r.last = err
	}
}

// roundOver returns the pause before the next round and, if operations must fail from now
// on, the reason.
func (r *refusal) roundOver() (pause time.Duration, begins error) {
	if r.last == nil {
		r.reopen()
		return 0, nil
	}
	if r.failing == nil {
		close(r.signal)
		begins = r.last
	}
	r.failing, r.last = r.last, nil
	return r.pauses.NextBackOff(), begins
}

func (r *refusal) reopen() {
	if r.failing != nil {
		r.failing, r.signal = nil, make(chan struct{})
	}
}

// outage is a time without a connection, from the first attempt that failed. The log
// has one line for a long outage, because state changes alone do not say why no server
// can be reached.
type outage struct {
	since    time.Time // zero while there is a connection, or no attempt has failed
	reported bool
}

// attempted records the result of an attempt to connect. If the outage has lasted
// longer than reportAfter and was not reported yet, attempted returns its duration,
// otherwise 0. A server that refuses the credentials was reached; refusal logs that.
func (o *outage) attempted(err error, reportAfter time.Duration) (lasted time.Duration) {
	switch {
	case err == nil:
		*o = outage{}
	case isRefused(err):
	case o.since.IsZero():
		o.since = time.Now()
	case !o.reported && time.Since(o.since) >= reportAfter:
		o.reported = true
		return time.Since(o.since)
	}
	return 0
}
