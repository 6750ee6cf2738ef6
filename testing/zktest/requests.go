package zktest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// defaultLogSize is how many requests the server remembers by default. It forgets older
// requests.
const defaultLogSize = 100_000

// maxLoggedPath bounds the memory that a hostile client can fill.
const maxLoggedPath = 4 << 10

// Request is a request that has reached the server.
type Request struct {
	Number  int64     // the place in the log, counted from 1
	Time    time.Time // when the server began with the request, before any delay
	Member  int       // the [Member.ID] of the server; 0 for a standalone one
	Conn    int64     // number of the connection, counted from 1 in the order of their first requests
	Session int64     // for a handshake, the granted session; if none was granted, the requested session
	Xid     int32     // 0 for a handshake
	Op      Op

	// Path is the path in the request. For a multi, it is the path of the first
	// operation. The log keeps the first 4 KiB of a path.
	Path string

	Watch bool // the request is a read that leaves a watch

	// Processed is false if a fault kept the server from carrying out the request. If
	// the fault was [Fail], Err is its code. If the server hangs up on a handshake, Err
	// is the code of a lost connection.
	Processed bool
	Err       Code
	Zxid      int64  // a write's own transaction; for a read, the last applied transaction
	Created   string // the path of the created node; for a multi, of the last created node
}

// requestLog has a ring of the last requests, and totals of all requests.
type requestLog struct {
	ring   []Request
	next   int   // the place of the next request once the ring is full
	last   int64 // the number of the newest request
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

// Requests returns the last 100,000 requests, including handshakes and pings, in the
// order in which the server received them. Requests in a black hole are left out, except
// the request that [Blackhole] has hit.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.all()
}

// requests implements AllRequests of package zkinside.
func (e *Ensemble) requests() []Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.log.all()
}

// ClearRequests forgets all requests, and resets the counts of [Server.CountRequests] and
// [Server.Stats].
func (s *Server) ClearRequests() {
	s.mu.Lock()
	defer s.unlock()
	s.log = requestLog{}
	s.notified, s.expired = 0, 0
}

// CountRequests returns how many requests of a type the server has received. It counts
// requests that [Server.Requests] no longer has, too. OpAny counts everything except
// pings and handshakes.
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

// Stats has totals since the start of the server or the last [Server.ClearRequests].
type Stats struct {
	// Mode is "standalone", or in an ensemble "leader", "follower" or "looking". A
	// server that does not run is "stopped" or "paused".
	Mode        string
	Zxid        int64 // the last transaction that the server has applied
	Connections int   // open connections, black holes included

	Requests      map[Op]int // the number of requests of each type on the wire
	Notifications int        // the number of sent watch events, one for each client that gets an event

	// Expired is how many sessions timed out. In an ensemble, the leader counts them.
	// Sessions that [Session.Expire] or their clients have ended do not count. If no
	// client was cut off, a number above 0 means that the machine was too busy for the
	// session timeouts of the test.
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
