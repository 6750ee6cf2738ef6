package zktest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// defaultLogSize is how many requests the server remembers unless it is told
// otherwise; older ones are forgotten.
const defaultLogSize = 100_000

// maxLoggedPath bounds what a hostile client can make the log hold.
const maxLoggedPath = 4 << 10

// Request is a request that has reached the server.
type Request struct {
	Number  int64     // the place in the log that has it, counted from 1
	Time    time.Time // the time at which the server got to it, before any delay
	Member  int       // the [Member.ID] of the server; 0 for a standalone one
	Conn    int64     // number of the connection, counted from 1 in the order of their first requests
	Session int64     // for a handshake, the session given, or asked for if none was given
	Xid     int32     // 0 for a handshake
	Op      Op

	// Path is what the client has sent. For a multi, it is the path of the
	// first operation. The log keeps the first 4 KiB of it.
	Path string

	Watch bool // the request is a read that leaves a watch

	// Processed is false if a fault kept the server from carrying out the
	// request; then Err is the code of [Fail], if that was the fault. A
	// handshake that the server hangs up on has the code of a lost connection.
	Processed bool
	Err       Code
	Zxid      int64  // a write's own transaction, else the last one applied before
	Created   string // path of the node created, the last one for a multi
}

// requestLog is a ring of the last requests, and totals of all.
type requestLog struct {
	ring   []Request
	next   int   // the place of the next one once the ring is full
	last   int64 // number of the newest
	totals map[wire.Op]int
}

func (l *requestLog) add(r Request, size int) {
	if l.totals == nil {
		l.totals = make(map[wire.Op]int)
	}
	l.totals[r.Op]++
	if size == 0 {
		return
	}
	l.last++
	r.Number = l.last
	r.Path, r.Created = shorten(r.Path), shorten(r.Created)
	if len(l.ring) < size {
		l.ring = append(l.ring, r)
		return
	}
	l.ring[l.next] = r
	l.next = (l.next + 1) % size
}

func shorten(path string) string {
	if len(path) <= maxLoggedPath {
		return path
	}
	return strings.Clone(path[:maxLoggedPath])
}

func (l *requestLog) all() []Request { return slices.Concat(l.ring[l.next:], l.ring[:l.next]) }

// Requests returns the last requests, 100,000 at most, in the order in which the
// server received them, handshakes and pings included. Requests that a black hole has
// lost are left out, except the request that [Blackhole] hit.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.all()
}

// requests is AllRequests of package zkinside.
func (e *Ensemble) requests() []Request {
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
	// Mode is "standalone", or in an ensemble "leader", "follower" or "looking". A
	// server that does not run is "stopped" or "paused".
	Mode        string
	Zxid        int64 // the last transaction that the server has applied
	Connections int   // open connections, black holes included

	Requests      map[Op]int // how many there were of each type on the wire
	Notifications int        // watch events sent, one for each client that gets the event

	// Expired is how many sessions timed out. In an ensemble, the leader counts
	// them. Sessions that [Session.Expire] or their clients have ended do not count.
	// If a test has cut no client off and Expired is not 0, the machine was too busy
	// for the session timeouts.
	Expired int
}

// Stats returns the state and the totals.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{
		Mode: s.modeLocked(), Zxid: s.zxid, Connections: len(s.conns),
		Requests: maps.Clone(s.log.totals), Notifications: s.notified, Expired: s.expired,
	}
}
