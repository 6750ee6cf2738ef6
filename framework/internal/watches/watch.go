package watches

import (
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// Watch is one standard watch on the server, with its local waiters.
type Watch struct {
	all *Session
	key transport.Watch

	// carrier is a persistent watch on the same path that the server had before.
	// It is not asked for this watch then; see Persistent.
	carrier *persistentWatch

	// Set before Done is closed, and before a function of AfterFunc is called.
	event   zk.EventType
	state   zk.State // the event's
	err     error
	inOrder bool // see InOrder

	// Protected by all.mu.
	waiters int
	settled bool          // the read that sets it is answered, or will not be
	ready   chan struct{} // see readyLocked; nil until somebody waits for it
	done    chan struct{} // see Done; nil until somebody waits for it
	after   *afterFunc    // see AfterFunc: the last one that was added, or nil
	isSet   bool
	missing bool // the node did not exist when the watch was set
	isDone  bool
	isAnew  bool // it was set again, on another connection

	asOf     int64 // every change behind this transaction is told, or lost
	seasoned bool  // it was set before the last look
}

// Path returns the path of the node.
func (w *Watch) Path() string { return w.key.Path }

// Event returns what has ended the watch. It is for when it is done.
func (w *Watch) Event() (zk.Event, error) {
	if w.err != nil {
		return zk.Event{}, w.err
	}
	return zk.Event{Type: w.event, State: w.state, Path: w.key.Path}, nil
}

// InOrder reports whether the event has come in its turn: behind the events of
// all changes before, on the connection on which the watch was set. It is for
// when the watch is done.
func (w *Watch) InOrder() bool { return w.inOrder }

// Leave removes a waiter.
func (w *Watch) Leave() {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	w.waiters--
	w.withdrawIfUnusedLocked()
}

// armedLocked notes whether a read has set the watch. It is called when that
// read is answered, in order with the events, even if all waiters have left by
// then: events that come before it are not this watch's.
func (w *Watch) armedLocked(ok, missing bool) {
	defer w.all.persistent.standardSettledLocked(w.key.Path)
	if w.settled {
		panic("watches: a read is answered twice") // its request was left in the queue
	}
	w.settled = true
	if w.ready != nil {
		close(w.ready)
	}
	switch {
	case w.isDone: // the session ended
	case !ok || !w.carriedLocked():
		w.finishLocked(errWatchGone)
	default:
		w.isSet, w.missing = true, missing
		w.asOf = w.all.link.LastZxid() // the answer's
		w.withdrawIfUnusedLocked()
	}
}

// withdrawIfUnusedLocked takes the watch back from the server when nobody waits
// for it. Requests that set it again come later on the same connection, because
// no read can see the key free before the withdrawal is queued.
func (w *Watch) withdrawIfUnusedLocked() {
	if w.waiters > 0 || !w.isSet || w.isDone {
		return
	}
	if p := w.all.persistent.byPath[w.key.Path]; p != nil {
		p.left = true
	} else {
		w.all.link.RemoveWatch(w.key)
	}
	w.finishLocked(ErrStopped)
}

// firedLocked ends the watch with an event of its node.
func (w *Watch) firedLocked(event zk.EventType, state zk.State) {
	w.event, w.state = event, state
	w.finishLocked(nil)
}

func (w *Watch) finishLocked(err error) {
	delete(w.all.shared, w.key)
	w.err, w.isDone = err, true
	w.tellDoneLocked()
	w.all.persistent.withdrawIfUnusedLocked(w.key.Path)
}

// carriedLocked reports whether the watch's carrier, if it has one, is there.
func (w *Watch) carriedLocked() bool {
	p := w.all.persistent
	return w.carrier == nil || p.byPath[w.key.Path] == w.carrier && w.carrier.armed
}

// A watch is done when it has fired, could not be set, nobody waits for it any
// more, or its session has ended. A client may have thousands, and most have one waiter, which waits in one of
// these ways. So a watch has only what somebody has asked for.

// Done returns a channel that is closed when the watch is done.
func (w *Watch) Done() <-chan struct{} {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	if w.done == nil {
		w.done = make(chan struct{})
		if w.isDone {
			close(w.done)
		}
	}
	return w.done
}

// readyLocked returns a channel that is closed when the read that sets the watch
// is answered, or will not be. It is for a watch that is not settled.
func (w *Watch) readyLocked() <-chan struct{} {
	if w.ready == nil {
		w.ready = make(chan struct{})
	}
	return w.ready
}

// afterFunc is a function that is called when a watch is done. It is in a list,
// because it may be taken back before, and thousands may wait for one watch.
type afterFunc struct {
	of         *Watch
	f          func() // nil when it is called, or was taken back
	prev, next *afterFunc
}

// AfterFunc calls f on a goroutine of its own when the watch is done: at once, if
// it is. The function returned takes that back, and reports whether it was in time.
func (w *Watch) AfterFunc(f func()) (stop func() bool) {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	if w.isDone {
		go f()
		return func() bool { return false }
	}
	added := &afterFunc{of: w, f: f, next: w.after}
	if w.after != nil {
		w.after.prev = added
	}
	w.after = added
	return added.takeBack
}

func (a *afterFunc) takeBack() bool {
	w := a.of
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	if a.f == nil {
		return false
	}
	a.f = nil
	if a.next != nil {
		a.next.prev = a.prev
	}
	if a.prev != nil {
		a.prev.next = a.next
	} else {
		w.after = a.next
	}
	return true
}

// tellDoneLocked tells all who wait that the watch is done.
func (w *Watch) tellDoneLocked() {
	if w.done != nil {
		close(w.done)
	}
	for a := w.after; a != nil; a = a.next {
		go a.f()
		a.f = nil
	}
	w.after = nil
}
