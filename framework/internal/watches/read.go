package watches

import (
	"context"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/reason"
)

// Read is a read with a watch, for all callers who have come before it is sent:
// its answer is not older than any of their calls. There is at most one that is
// not sent yet, for each operation on each node.
//
// Without a watch in its way, a read is sent at once, and sets the watch. While
// another read is setting the watch, the next one waits for that. It then joins
// the watch, if it is there, and reads without setting one. If such a watch has
// fired before the answer, it may have fired for a change that the answer has
// already. So the callers take part in the next read, all together. Were they to
// read again each for itself, a node that changes all the time would let one of
// them through at a time.
//
// The callers make the request, one of them for all: this is only who takes part
// in it, and what follows for the watch.
type Read struct {
	all *Session
	key ReadKey

	// Protected by all.mu until isSent, and constant then.
	request any
	err     error // why there is none

	// Protected by all.mu.
	isSent  bool          // the connection has the request, or does not take it
	sent    chan struct{} // closed then; nil until a caller waits for it
	callers int
	watch   *Watch // set when one of the callers begins to send
	many    bool   // there was more than one by then
	sets    bool   // it sets the watch, and has not joined it
	next    *Read  // what its callers take part in instead
}

// ReadKey is what the callers of one Read have in common.
type ReadKey struct {
	Op    string
	Watch transport.Watch
}

// TakePart adds a caller to the read that is not sent yet. A caller that gets no
// value must Leave.
func (ws *Session) TakePart(key ReadKey) *Read {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	r := ws.nextReadLocked(key)
	r.callers++
	return r
}

func (ws *Session) nextReadLocked(key ReadKey) *Read {
	r := ws.reads[key]
	if r == nil {
		r = &Read{all: ws, key: key}
		ws.reads[key] = r
	}
	return r
}

// Begin finds the watch of the read, and reports whether this caller is to send
// the request. If there is something to be waited for first, it returns a channel
// that is closed then.
func (r *Read) Begin() (begins bool, later <-chan struct{}, err error) {
	ws := r.all
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w, carrier := ws.shared[r.key.Watch], ws.persistent.byPath[r.key.Watch.Path]
	switch {
	case r.watch != nil: // another caller has begun
		return false, nil, nil
	case ws.ended:
		return false, nil, ws.EndError()
	case w != nil && !w.isSet:
		return false, w.readyLocked(), nil
	case w == nil && carrier != nil && carrier.isComing():
		return false, carrier.changed, nil
	case w == nil:
		w, r.sets = ws.addLocked(r.key.Watch), true
	}
	delete(ws.reads, r.key)
	r.watch, r.many = w, r.callers > 1
	w.waiters += r.callers
	return true, nil, nil
}

// AsksForWatch reports whether the request is to set the watch. It is for the
// caller that begins.
func (r *Read) AsksForWatch() bool { return r.sets && r.watch.carrier == nil }

// IsShared reports whether several callers get the same answer. It is for the
// caller that begins.
func (r *Read) IsShared() bool { return r.many }

// Sent passes the request to all callers, or why there is none.
func (r *Read) Sent(request any, err error) {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	r.request, r.err, r.isSent = request, err, true
	if r.sent != nil {
		close(r.sent)
	}
}

// Request waits for the request, and returns what Sent was called with.
func (r *Read) Request(ctx context.Context) (any, error) {
	r.all.mu.Lock()
	if !r.isSent && r.sent == nil {
		r.sent = make(chan struct{})
	}
	isSent, sent := r.isSent, r.sent
	r.all.mu.Unlock()
	if isSent {
		return r.request, r.err
	}
	select {
	case <-sent:
		return r.request, r.err
	case <-ctx.Done():
		return nil, reason.OfContext(ctx)
	}
}

// Answered is called when the answer arrives, in order with the events, even if
// all callers have left by then. An answer that is ok has a value.
func (r *Read) Answered(ok, missing bool) {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if r.sets {
		r.watch.armedLocked(ok, missing)
	}
	if ok && r.watch.isDone {
		r.goOnLocked()
	}
}

// Failed is called when the read was not sent. If that is for the context of
// the caller that was to send it, it is no business of the others, who go on.
func (r *Read) Failed(othersGoOn bool) {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if r.sets {
		r.watch.armedLocked(false, false)
	}
	if othersGoOn {
		r.goOnLocked()
	}
}

// goOnLocked makes the callers take part in the next read.
func (r *Read) goOnLocked() {
	if r.callers == 0 {
		return
	}
	r.next = r.all.nextReadLocked(r.key)
	r.next.callers += r.callers
	r.watch.waiters -= r.callers
	r.watch.withdrawIfUnusedLocked()
}

// Next returns what the callers take part in instead, or nil.
func (r *Read) Next() *Read {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	return r.next
}

// Watch returns the watch. A caller that has the value is one of its waiters.
func (r *Read) Watch() *Watch { return r.watch }

// Leave takes a caller out that gets no value.
func (r *Read) Leave() {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	for r.next != nil {
		r = r.next
	}
	r.callers--
	switch {
	case r.watch != nil:
		r.watch.waiters--
		r.watch.withdrawIfUnusedLocked()
	case r.callers == 0:
		delete(r.all.reads, r.key)
	}
}
