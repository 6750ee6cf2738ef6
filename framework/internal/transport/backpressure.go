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

// Waiter is a place in the line of those whose requests wait for room on a
// connection. Whoever is first in the line is served first, and nobody else is
// woken for it.
type Waiter struct {
	conn     *Conn
	requests []Request
	done     chan struct{}

	elem *list.Element // in conn.waiters, protected by link.mu; nil when the place is served or given up

	// Set before done is closed.
	calls [2]*Call
	err   error
}

// Done is closed when the requests have been sent, or can not be any more.
func (w *Waiter) Done() <-chan struct{} { return w.done }

// Calls returns what Send or SendBoth would have returned, after Done is
// closed.
func (w *Waiter) Calls() (first, second *Call, err error) { return w.calls[0], w.calls[1], w.err }

// Cancel gives the place up. Then the requests are not sent. It reports false if
// it comes too late: Done is closed.
func (w *Waiter) Cancel() bool {
	l := w.conn.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.elem == nil {
		return false
	}
	w.conn.waiters.Remove(w.elem)
	w.elem = nil
	return true
}

func (w *Waiter) finishLocked(err error) {
	w.conn.waiters.Remove(w.elem)
	w.elem, w.err = nil, err
	close(w.done)
}

// fullLocked reports whether requests have to wait. Then they do so behind those
// that wait already. While there is room nobody waits: whatever makes room serves
// the line first.
func (c *Conn) fullLocked() bool { return !c.closed && !c.hasCapacityLocked() }

func (c *Conn) hasCapacityLocked() bool { return len(c.calls) < maxCalls && len(c.out) < maxQueued }

func (c *Conn) enqueueWaiterLocked(requests []Request) *Waiter {
	w := &Waiter{conn: c, requests: slices.Clone(requests), done: make(chan struct{})}
	w.elem = c.waiters.PushBack(w)
	return w
}

// admitWaitersLocked sends what waits, in order, as far as there is room.
func (c *Conn) admitWaitersLocked() {
	for c.waiters.Len() > 0 && c.hasCapacityLocked() {
		w := c.waiters.Front().Value.(*Waiter)
		w.finishLocked(c.enqueueAllLocked(w.requests, w.calls[:]))
		c.signal()
	}
}

// failWaitersLocked tells those who wait that this connection has come to its
// end.
func (c *Conn) failWaitersLocked() {
	for c.waiters.Len() > 0 {
		c.waiters.Front().Value.(*Waiter).finishLocked(ErrNotSent)
	}
}
