package transport

import (
	"container/list"
	"slices"

	"github.com/gocurator/curator/framework/internal/proto"
)

// Limits of what may be under way on a connection. A slow server makes callers
// wait, instead of filling memory with their requests.
//
// A server stops reading when all clients together have 1000 requests that are
// not answered (globalOutstandingLimit). Then a ping waits behind them, and the
// session is lost although client and server are well. So this client keeps
// well below that limit. The difference is for requests that do not wait,
// because the session depends on them, or their order:
//
//   - the library's pings;
//   - the requests that confirm contact with the leader;
//   - the requests that set standard watches again: one for 128 KiB of paths
//     after a reconnect, and PipelineDepth or a few more at a time without one;
//   - the requests that remove watches. They wait only behind requests for
//     persistent watches that wait: one of those may be for the same watch.
const (
	maxCalls  = 768     // not answered
	maxQueued = 4 << 20 // bytes not written, before the request that exceeds it
)

// PipelineDepth is how many requests of one series are under way at a time: of a
// pipeline, or of a look at watches. It hides the time of a round trip, and is
// little for a server, which takes 1000 requests in all before it stops reading.
const PipelineDepth = 64

// Waiter is one Send or SendAll that waits for its turn on a connection, or a
// request about a watch, which nobody waits for. Waiters are sent in the order
// of their arrival, and only the one that is sent is woken.
type Waiter struct {
	conn  *Conn
	calls []*Call
	done  chan struct{}

	// In conn.waiters, protected by link.mu. It is nil once the requests have
	// been sent or withdrawn.
	elem *list.Element

	err error // set before done is closed
}

// Done is closed when the requests have been sent, or cannot be sent any more.
func (w *Waiter) Done() <-chan struct{} { return w.done }

// Err returns the error that SendAll would have returned, once Done is closed.
func (w *Waiter) Err() error { return w.err }

// Cancel withdraws the requests, so that they are not sent. It returns false if
// Done is closed already; then Cancel does nothing.
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

// finishLocked removes the waiter from the queue and closes Done.
func (w *Waiter) finishLocked(err error) {
	w.conn.waiters.Remove(w.elem)
	if w.calls[0].Op == proto.OpAddWatch {
		w.conn.waitingWatches--
	}
	w.elem, w.err = nil, err
	close(w.done)
}

// fullLocked reports whether a new request has to wait, behind the waiters that
// are there already. There are no waiters while there is capacity, because
// every event that makes capacity admits waiters first.
func (c *Conn) fullLocked() bool { return !c.closed && !c.hasCapacityLocked() }

func (c *Conn) hasCapacityLocked() bool { return c.inflight.len() < maxCalls && len(c.out) < maxQueued }

func (c *Conn) enqueueWaiterLocked(calls ...*Call) *Waiter {
	w := &Waiter{conn: c, calls: slices.Clone(calls), done: make(chan struct{})}
	w.elem = c.waiters.PushBack(w)
	return w
}

// admitWaitersLocked sends the waiters' requests, in order, as far as there is
// capacity.
func (c *Conn) admitWaitersLocked() {
	for c.waiters.Len() > 0 && c.hasCapacityLocked() {
		w := c.waiters.Front().Value.(*Waiter)
		w.finishLocked(c.enqueueAllLocked(w.calls))
		c.signal()
	}
}

// failWaitersLocked completes every waiter with ErrNotSent, because the
// connection has ended.
func (c *Conn) failWaitersLocked() {
	for c.waiters.Len() > 0 {
		c.waiters.Front().Value.(*Waiter).finishLocked(ErrNotSent)
	}
}
