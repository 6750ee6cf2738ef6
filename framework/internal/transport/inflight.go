package transport

import (
	"container/list"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
)

// inflight records which requests of one connection wait for their reply, and
// when each was sent: handed to the connection, which is no later than its
// arrival at the server.
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
	call *Call // nil for a request of the library's, and for one of the handshake
}

func (f *inflight) len() int { return len(f.waiting) - f.head }

func (f *inflight) sent(h proto.RequestHeader, at time.Time, call *Call) {
	// Keep the queue's memory in proportion to what waits.
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
