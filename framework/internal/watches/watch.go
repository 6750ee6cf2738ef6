package watches

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// Watch is one standard watch on the server, with its local waiters.
type Watch struct {
	all *Session
	key transport.Watch

	// Set before Done is closed, and before a function of AfterFunc is called.
	event   zk.EventType
	state   zk.State // the state in the event
	err     error
	inOrder bool // see InOrder

	// Protected by all.mu.
	waiters int
	done    chan struct{} // see Done; nil until a caller waits for it
	after   *afterFunc    // see AfterFunc: the function added last, or nil
	missing bool          // the node did not exist when the watch was set
	isDone  bool
	isAnew  bool // the watch was set again, on another connection

	asOf     int64 // every change after this transaction causes an event or is lost
	seasoned bool  // the watch was set before the last check
}

// Path returns the path of the node.
func (w *Watch) Path() string { return w.key.Path }

// Event returns the event or error that has ended the watch. Call Event when the watch
// is done.
func (w *Watch) Event() (zk.Event, error) {
	if w.err != nil {
		return zk.Event{}, w.err
	}
	return zk.Event{Type: w.event, State: w.state, Path: w.key.Path}, nil
}

// InOrder reports whether the event has arrived in order: after the events of all
// earlier changes, on the connection on which the watch was set. Call InOrder when the
// watch is done.
func (w *Watch) InOrder() bool { return w.inOrder }

// Leave removes a waiter.
func (w *Watch) Leave() {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	w.leaveLocked()
}

func (w *Watch) leaveLocked() {
	w.waiters--
	w.withdrawIfUnusedLocked()
}

// withdrawIfUnusedLocked removes the watch from the server if no caller waits for it. If a
// read that sets the watch again is in flight, the watch stays, because the removal would
// reach the server after that read. Later reads reach the server after the removal.
func (w *Watch) withdrawIfUnusedLocked() {
	if w.waiters > 0 || w.isDone || w.all.inFlight[w.key].all > 0 {
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

// A watch is done when it has fired, when its last waiter has left, or when its session
// has ended. A client may have thousands of watches, and most have one waiter, which
// waits in one of two ways. So a watch allocates only what a waiter has asked for.

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

// afterFunc is a function that is called when a watch is done. The functions form a
// list, because a function can be cancelled, and one watch may have thousands.
type afterFunc struct {
	of         *Watch
	f          func() // nil once called or cancelled
	prev, next *afterFunc
}

// AfterFunc calls f in a new goroutine when the watch is done; if it already is, at once. stop
// prevents the call, and reports whether it did.
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

// tellDoneLocked notifies all waiters that the watch is done.
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

// Count returns how many watches the server has for this client.
func (ws *Session) Count() (n int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	n = len(ws.shared)
	for _, w := range ws.persistent.byPath {
		if w.armed {
			n++
		}
	}
	return n
}

// Status describes a watch. See framework.WatchStatus for the fields.
type Status struct {
	Path                            string
	Children, Persistent, Recursive bool
	Waiters                         int
	Set                             bool
}

// kind orders the watches of a path.
func (s Status) kind() string { return fmt.Sprint(s.Persistent, s.Children) }

// List returns the watches by path.
func (ws *Session) List() []Status {
	ws.mu.Lock()
	all := make([]Status, 0, len(ws.shared)+len(ws.persistent.byPath))
	for key, w := range ws.shared {
		all = append(all, Status{
			Path: key.Path, Children: key.Table == transport.Children, Waiters: w.waiters, Set: true,
		})
	}
	for path, w := range ws.persistent.byPath {
		all = append(all, Status{
			Path: path, Persistent: true, Recursive: w.recursive, Waiters: len(w.readers), Set: w.armed,
		})
	}
	ws.mu.Unlock()
	slices.SortFunc(all, func(a, b Status) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.kind(), b.kind()))
	})
	return all
}
