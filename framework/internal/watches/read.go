package watches

import "github.com/gocurator/curator/framework/internal/transport"

// Read is a read that sets a standard watch. The answer and the events come in the order
// in which the server has sent them. So an event that comes before the answer is about
// an earlier watch: the answer has the change already.
type Read struct {
	all *Session
	key transport.Watch

	// carrier is a persistent watch on the same path, which the server has. The read
	// sets no watch then; see Persistent.
	carrier *persistentWatch

	// Protected by all.mu.
	answered bool
	left     bool   // the caller takes no watch
	watch    *Watch // nil if the answer has none
}

// readings counts the reads of one watch that are not answered yet.
type readings struct {
	all     int
	setting int // those without a carrier
}

// BeginRead begins a read. If the server is about to set a persistent watch on the path,
// there is no read yet, and later is closed when the caller should ask again. A read that
// was begun must be Answered.
func (ws *Session) BeginRead(key transport.Watch) (r *Read, later <-chan struct{}, err error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	carrier := ws.persistent.byPath[key.Path]
	switch {
	case ws.ended:
		return nil, nil, ws.EndError()
	case carrier != nil && carrier.isComing():
		return nil, carrier.changed, nil
	case carrier != nil && !carrier.armed:
		carrier = nil
	}
	r = &Read{all: ws, key: key, carrier: carrier}
	r.countLocked(1)
	return r, nil, nil
}

func (r *Read) countLocked(n int) {
	now := r.all.inFlight[r.key]
	now.all += n
	if r.SetsWatch() {
		now.setting += n
	}
	if now.all == 0 {
		delete(r.all.inFlight, r.key)
		return
	}
	r.all.inFlight[r.key] = now
}

// SetsWatch reports whether the request must ask the server for the watch.
func (r *Read) SetsWatch() bool { return r.carrier == nil }

// Answered is called once, in order with the events: with ok if the server has the watch
// now, and not ok if it does not, or if the read was not sent. The node is missing if
// the watch is for its creation.
func (r *Read) Answered(ok, missing bool) {
	ws := r.all
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if r.answered {
		panic("watches: a read is answered twice") // its request was left in the queue
	}
	r.answered = true
	r.countLocked(-1)
	if ok && r.isCarriedLocked() {
		r.watch = ws.setLocked(r.key, missing)
	}
	if r.watch != nil && !r.left {
		r.watch.waiters++
	}
	if w := ws.shared[r.key]; w != nil {
		w.withdrawIfUnusedLocked()
	}
	ws.persistent.standardSettledLocked(r.key.Path)
	ws.persistent.withdrawIfUnusedLocked(r.key.Path)
}

// isCarriedLocked reports whether the carrier of the read, if there is one, is still
// set.
func (r *Read) isCarriedLocked() bool {
	return r.carrier == nil || r.all.persistent.byPath[r.key.Path] == r.carrier && r.carrier.armed
}

// setLocked returns the watch that the server has now.
func (ws *Session) setLocked(key transport.Watch, missing bool) *Watch {
	w := ws.shared[key]
	if w == nil {
		w = &Watch{all: ws, key: key, asOf: ws.link.LastZxid()} // the answer's
		ws.shared[key] = w
	}
	w.missing = missing
	if ws.ended {
		w.finishLocked(ws.EndError())
	}
	return w
}

// Watch returns the watch of a read whose answer has a value, or nil if the carrier has
// gone meanwhile: then the caller must read again. The caller is a waiter of the watch.
func (r *Read) Watch() *Watch {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	return r.watch
}

// Leave is for a caller that takes no watch. The answer may come later.
func (r *Read) Leave() {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	r.left = true
	if r.watch != nil {
		r.watch.leaveLocked()
	}
}
