package transport

import (
	"container/list"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
)

// inflight records the requests of one connection that have no reply yet, and when each
// was sent. A request counts as sent when the connection gets it, so it arrives at the
// server no earlier.
//
// The server counts a session's timeout from the arrival of a request. A
// request that was answered has arrived, and it arrived after it was sent, so
// the session lives at least until the send time plus the timeout. Auth
// requests are the exception: they do not renew a session.
type inflight struct {
	waiting []sentRequest // oldest first
	head    int           // waiting[:head] are answered
}

type sentRequest struct {
	proto.RequestHeader
	at   time.Time
	call *Call // nil for requests of the library and of the handshake
}

func (f *inflight) len() int { return len(f.waiting) - f.head }

func (f *inflight) sent(h proto.RequestHeader, at time.Time, call *Call) {
	// Keep the queue's memory in proportion to the waiting requests.
	if f.head > 64 && f.head*2 > len(f.waiting) {
		n := copy(f.waiting, f.waiting[f.head:])
		clear(f.waiting[n:])
		f.waiting, f.head = f.waiting[:n], 0
	}
	f.waiting = append(f.waiting, sentRequest{h, at, call})
}

// answered removes the oldest waiting request with this xid and returns it.
// Replies come in the order of the requests, except that servers answer auth
// requests ahead of others.
func (f *inflight) answered(xid int32) (sentRequest, bool) {
	r, i := f.find(xid)
	if i < 0 {
		return r, false
	}
	copy(f.waiting[f.head+1:i+1], f.waiting[f.head:i])
	f.waiting[f.head] = sentRequest{}
	f.head++
	return r, true
}

// find returns the oldest waiting request with this xid and its index, which is
// negative if there is none.
func (f *inflight) find(xid int32) (sentRequest, int) {
	for i := f.head; i < len(f.waiting); i++ {
		if f.waiting[i].Xid == xid {
			return f.waiting[i], i
		}
	}
	return sentRequest{}, -1
}

// These are limits of the requests under way on a connection. With a slow server,
// callers wait instead of filling the memory with requests.
//
// A server stops reading when all clients together have 1000 unanswered requests
// (globalOutstandingLimit). Then a ping waits behind them, and the session is lost
// although client and server are healthy. So this client stays well below that limit.
// The difference is for requests that must not wait, because the session depends on
// them or on their order:
//
//   - the library's pings;
//   - the requests that confirm contact with the leader;
//   - the requests that set standard watches again: one for 128 KiB of paths
//     after a reconnect, and PipelineDepth or a few more at a time without one;
//   - the requests that remove watches. These wait only if requests for persistent
//     watches are waiting, because one of them may be for the same watch.
const (
	maxCalls  = 768     // unanswered calls
	maxQueued = 4 << 20 // unwritten bytes, not counting the request that exceeds the limit
)

// PipelineDepth is how many requests of one series are under way at the same time: of a
// pipeline, or of a check of watches. The depth hides the time of a round trip, and is
// small for a server, which accepts 1000 requests in all before it stops reading.
const PipelineDepth = 64

// Waiter is a SendAll that waits for its turn on a connection, or a request about a
// watch, for which no caller waits. Waiters are sent in the order of their arrival, and
// each is woken only when it is sent.
type Waiter struct {
	conn  *Conn
	calls []*Call
	done  chan struct{}

	// In conn.waiters, protected by link.mu. It is nil once the requests have
	// been sent or withdrawn.
	elem *list.Element

	err error // set before done is closed
}

// Done is closed when the requests have been sent, or can no longer be sent.
func (w *Waiter) Done() <-chan struct{} { return w.done }

// Err returns the error that SendAll would have returned, once Done is closed.
func (w *Waiter) Err() error { return w.err }

// Cancel withdraws the requests before they are sent. If Done is already closed, Cancel
// does nothing and returns false.
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
