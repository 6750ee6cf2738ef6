package zktest

import "maps"

// Requests returns the last requests, 100,000 unless [WithRequestLog] says
// otherwise, in the order in which the server got to them, handshakes and pings
// included. Requests that a black hole has lost are not in it, except the one
// that [Blackhole] hit.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.all()
}

// Requests returns the last requests to all members together, as many as
// [Server.Requests] of one, in the order in which they got to them:
// [Request.Member] says to which.
func (e *Ensemble) Requests() []Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.log.all()
}

// ClearRequests forgets the requests so far, and what [Server.CountRequests]
// and [Server.Stats] counted.
func (s *Server) ClearRequests() {
	s.mu.Lock()
	defer s.unlock()
	s.log = requestLog{}
	s.notified, s.expired = 0, 0
}

// CountRequests returns how many requests of a type there were, without the
// bound of [Server.Requests]. OpAny counts everything but pings and handshakes.
func (s *Server) CountRequests(op Op) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := 0
	for wire, n := range s.log.totals {
		if op.Covers(wire) {
			total += n
		}
	}
	return total
}

// Stats are totals since the beginning or the last [Server.ClearRequests].
type Stats struct {
	Requests      map[Op]int // how many there were of each type on the wire
	Notifications int        // watch events sent, one for each client that hears of it

	// Expired is how many sessions timed out. In an ensemble the leader counts
	// them. Sessions that [Session.Expire] or their clients ended are not among
	// them. A test that has cut nobody off, and finds some, ran on a machine
	// that was too busy for its session timeouts.
	Expired int
}

// Stats returns the totals.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Requests: maps.Clone(s.log.totals), Notifications: s.notified, Expired: s.expired}
}
