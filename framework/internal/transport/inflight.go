package transport

import (
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
