package framework

import "time"

// attempts is what has become of the attempts to connect, by server. It is for
// people. The zero value is ready to use.
type attempts struct {
	byServer map[string]*serverAttempts
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
