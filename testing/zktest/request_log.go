package zktest

import (
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
