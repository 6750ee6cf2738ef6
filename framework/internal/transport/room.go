package transport

import (
	"container/list"
	"slices"
)

// What may be under way on a connection. A server that is slow makes callers
// wait, instead of filling memory with what they asked for.
//
// A server stops reading when 1000 requests, of all clients together, are not
// answered (globalOutstandingLimit). Then a ping waits behind them, and the
// session is lost although everything is well. So this client asks for less.
// What is left is for requests that do not wait for room, because the session
// depends on them: the library's pings, those that confirm contact, and those
// that set watches again or take them back.
const (
	maxCalls  = 768     // not answered
	maxQueued = 4 << 20 // bytes not written, before the request that exceeds it
)

// Place is a place in the line of those whose requests wait for room on a
// connection. Whoever is first in the line is served first, and nobody else is
// woken for it.
type Place struct {
	conn     *Conn
	requests []Request
	served   chan struct{}

	at *list.Element // in conn.line, protected by link.mu; nil when the place is served or given up

	// Set before served is closed.
	calls [2]*Call
	err   error
}

// Done is closed when the requests have been sent, or can not be any more.
func (p *Place) Done() <-chan struct{} { return p.served }

// Calls returns what Send or SendBoth would have returned, after Done is
// closed.
func (p *Place) Calls() (first, second *Call, err error) { return p.calls[0], p.calls[1], p.err }

// Leave gives the place up. Then the requests are not sent. It reports false if
// it comes too late: Done is closed.
func (p *Place) Leave() bool {
	l := p.conn.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.at == nil {
		return false
	}
	p.conn.line.Remove(p.at)
	p.at = nil
	return true
}

func (p *Place) serveLocked(err error) {
	p.conn.line.Remove(p.at)
	p.at, p.err = nil, err
	close(p.served)
}

// fullLocked reports whether requests have to wait. Then they do so behind those
// that wait already. While there is room nobody waits: whatever makes room serves
// the line first.
func (c *Conn) fullLocked() bool { return !c.closed && !c.hasRoomLocked() }

func (c *Conn) hasRoomLocked() bool { return len(c.calls) < maxCalls && len(c.out) < maxQueued }

func (c *Conn) lineUpLocked(requests []Request) *Place {
	p := &Place{conn: c, requests: slices.Clone(requests), served: make(chan struct{})}
	p.at = c.line.PushBack(p)
	return p
}

// serveLineLocked sends what waits, in order, as far as there is room.
func (c *Conn) serveLineLocked() {
	for c.line.Len() > 0 && c.hasRoomLocked() {
		p := c.line.Front().Value.(*Place)
		p.serveLocked(c.addBothLocked(p.requests, p.calls[:]))
		c.signal()
	}
}

// dismissLineLocked tells those who wait that this connection has come to its
// end.
func (c *Conn) dismissLineLocked() {
	for c.line.Len() > 0 {
		c.line.Front().Value.(*Place).serveLocked(ErrNotSent)
	}
}
