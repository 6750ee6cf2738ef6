package framework

import (
	"context"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/reason"
)

// sharedRead is a read with a watch, for all callers who have come before it is
// sent: its answer is not older than any of their calls. There is at most one
// that is not sent yet, for each operation on each node.
//
// Without a watch in its way, a read is sent at once, and sets the watch. While
// another read is setting the watch, the next one waits for that. It then joins
// the watch, if it is there, and reads without setting one. If such a watch has
// fired before the answer, it may have fired for a change that the answer has
// already. So the callers take part in the next read, all together. Were they to
// read again each for itself, a node that changes all the time would let one of
// them through at a time.
type sharedRead struct {
	all  *watches
	key  sharedReadKey
	sent chan struct{} // closed when the connection has the request, or does not take it

	// Set before sent is closed.
	call any   // the pending
	err  error // why there is none

	// Protected by all.mu.
	callers int
	watch   *sharedWatch // set when one of the callers begins to send
	many    bool         // there was more than one by then
	sets    bool         // it sets the watch, and has not joined it
	next    *sharedRead  // what its callers take part in instead
}

type sharedReadKey struct {
	op    string
	watch transport.Watch
}

// readTogether makes a read, or takes part in one, and returns the value with a
// watch that is as old as the value or older. The caller is a waiter of the
// watch then.
func readTogether[T any](
	ctx context.Context, s *Session, key sharedReadKey, read func(path string, watch bool) proto.Request[T],
) (v T, w *sharedWatch, err error) {
	r := s.watches.takePart(key)
	for {
		begins, err := r.begin(ctx)
		if err != nil {
			return v, nil, r.leave(err)
		}
		if begins {
			sendTogether(ctx, r, read(key.watch.Path, r.sets && r.watch.carrier == nil))
		}
		v, err := awaitTogether[T](ctx, r)
		switch next := r.nextRead(); {
		case next != nil:
			r = next
		case err != nil:
			return v, nil, r.leave(err)
		default:
			return v, r.watch, nil
		}
	}
}

// sendTogether gives the read to the connection. When the answer arrives, the
// connection notes what it means for the watch, even if all callers have left
// by then.
func sendTogether[T any](ctx context.Context, r *sharedRead, q proto.Request[T]) {
	p, err := start(ctx, r.all.session, q, func(code int32, err error) {
		missing := err == nil && q.NoNodeIsAnswer && code == proto.CodeNoNode
		r.answered(err == nil && (code == proto.CodeOK || missing), missing)
	})
	if err != nil {
		r.failed(err)
	}
	p.shared = r.many
	r.call, r.err = p, err
	close(r.sent)
}

func awaitTogether[T any](ctx context.Context, r *sharedRead) (v T, err error) {
	select {
	case <-r.sent:
	case <-ctx.Done():
		return v, reason.OfContext(ctx)
	}
	if r.err != nil {
		return v, r.err
	}
	return r.call.(pending[T]).await(ctx, nil)
}

// takePart adds a caller to the read that is not sent yet.
func (ws *watches) takePart(key sharedReadKey) *sharedRead {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	r := ws.nextReadLocked(key)
	r.callers++
	return r
}

func (ws *watches) nextReadLocked(key sharedReadKey) *sharedRead {
	r := ws.reads[key]
	if r == nil {
		r = &sharedRead{all: ws, key: key, sent: make(chan struct{})}
		ws.reads[key] = r
	}
	return r
}

// begin waits until the read can be sent, and reports whether this caller is to
// do that.
func (r *sharedRead) begin(ctx context.Context) (begins bool, err error) {
	for ctx.Err() == nil {
		begins, later, err := r.tryBegin()
		if later == nil {
			return begins, err
		}
		select {
		case <-later:
		case <-ctx.Done():
		case <-r.all.session.ctx.Done():
			return false, r.all.endError()
		}
	}
	return false, notSent(ctx)
}

// tryBegin finds the watch of the read. If there is something to be waited for
// first, it returns a channel that is closed then.
func (r *sharedRead) tryBegin() (begins bool, later <-chan struct{}, err error) {
	ws := r.all
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w, carrier := ws.shared[r.key.watch], ws.persistent.byPath[r.key.watch.Path]
	switch {
	case r.watch != nil: // another caller has begun
		return false, nil, nil
	case ws.ended:
		return false, nil, ws.endError()
	case w != nil && !w.isSet:
		return false, w.ready, nil
	case w == nil && carrier != nil && !carrier.armed:
		return false, carrier.changed, nil
	case w == nil:
		w, r.sets = ws.addLocked(r.key.watch), true
	}
	delete(ws.reads, r.key)
	r.watch, r.many = w, r.callers > 1
	w.waiters += r.callers
	return true, nil, nil
}

// answered is called when the answer arrives, in order with the events. An
// answer that is ok has a value.
func (r *sharedRead) answered(ok, missing bool) {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if r.sets {
		r.watch.armedLocked(ok, missing)
	}
	if ok && r.watch.isDone {
		r.goOnLocked()
	}
}

// failed is called when the read was not sent. If that is for the context of
// the caller that was to send it, it is no business of the others.
func (r *sharedRead) failed(err error) {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if r.sets {
		r.watch.armedLocked(false, false)
	}
	if reason.Is(err, errNotSent) {
		r.goOnLocked()
	}
}

// goOnLocked makes the callers take part in the next read.
func (r *sharedRead) goOnLocked() {
	if r.callers == 0 {
		return
	}
	r.next = r.all.nextReadLocked(r.key)
	r.next.callers += r.callers
	r.watch.waiters -= r.callers
	r.watch.withdrawIfUnusedLocked()
}

func (r *sharedRead) nextRead() *sharedRead {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	return r.next
}

// leave takes a caller out that gets no value, and returns why.
func (r *sharedRead) leave(why error) error {
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
	return why
}
