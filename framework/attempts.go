package framework

import (
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/reason"
)

// attempts is what has become of the attempts to connect, by server. It is for
// people. The zero value is ready to use.
type attempts struct {
	byServer map[string]*serverAttempts // add removes the oldest of more than maxServers
}

// serverAttempts are the attempts to connect to one server.
type serverAttempts struct {
	begun  int
	failed int

	// The newest attempt.
	last   time.Time // its beginning
	goesOn bool
	err    error // nil if it has connected, or goes on
}

// maxServers is how many servers are remembered: names may stand for ever new
// addresses.
const maxServers = 64

// begin notes that a server is tried.
func (a *attempts) begin(address string) {
	s := a.byServer[address]
	if s == nil {
		s = a.add(address)
	}
	s.begun++
	s.last, s.err, s.goesOn = time.Now(), nil, true
}

// add forgets the server that was not tried for longest, if there are too many.
func (a *attempts) add(address string) *serverAttempts {
	if a.byServer == nil {
		a.byServer = map[string]*serverAttempts{}
	}
	if len(a.byServer) >= maxServers {
		oldest := ""
		for other, s := range a.byServer {
			if oldest == "" || s.last.Before(a.byServer[oldest].last) {
				oldest = other
			}
		}
		delete(a.byServer, oldest)
	}
	s := &serverAttempts{}
	a.byServer[address] = s
	return s
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

// silence returns for how long a server has not answered the attempt that goes
// on, or 0.
func (a *attempts) silence(address string) time.Duration {
	s := a.byServer[address]
	if s == nil || !s.goesOn {
		return 0
	}
	return time.Since(s.last)
}

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

// isRefused reports whether a server has refused the credentials, or a server or the
// client has refused the other one by SASL.
func isRefused(err error) bool {
	var auth *transport.AuthError
	var authentication *sasl.Error
	return reason.As(err, &auth) || reason.As(err, &authentication)
}

// attempted notes how an attempt to connect has ended.
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

// outage is a time without a connection, from the first attempt that failed.
// The log has one line for an outage that lasts: state changes alone do not say
// why no server can be reached.
type outage struct {
	since    time.Time // zero while there is a connection, or no attempt has failed
	reported bool
}

// attempted notes how an attempt to connect has ended. It returns how long the
// outage has lasted when that is longer than a time and has not been reported,
// else 0. A server that refuses the credentials has been reached, and refusal
// tells the log of that.
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
