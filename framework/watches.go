package framework

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// watches are the server's watches of one session: at most one for each table
// of each node, however many local waiters share it. That invariant makes it
// certain which watch an event belongs to.
type watches struct {
	session *Session

	mu     sync.Mutex // protects the following fields, and the fields of every sharedWatch that say so
	ended  bool
	shared map[transport.Watch]*sharedWatch
}

// sharedWatch is one watch on the server, with its local waiters.
type sharedWatch struct {
	all   *watches
	key   transport.Watch
	ready chan struct{} // closed when the server has the watch
	done  chan struct{} // closed when it has fired, could not be set, or its session has ended

	// Set before done is closed.
	event zk.Event
	err   error

	// Protected by all.mu.
	waiters int
	isSet   bool
	missing bool // the node did not exist when the watch was set
	isDone  bool
}

func newWatches(s *Session) *watches {
	return &watches{session: s, shared: map[transport.Watch]*sharedWatch{}}
}

// join adds a waiter. The first one must set the watch and call armed.
func (ws *watches) join(key transport.Watch) (w *sharedWatch, first bool, err error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.ended {
		return nil, false, ws.endError()
	}
	w = ws.shared[key]
	if w == nil {
		first = true
		w = &sharedWatch{all: ws, key: key, ready: make(chan struct{}), done: make(chan struct{})}
		ws.shared[key] = w
	}
	w.waiters++
	return w, first, nil
}

// armed notes whether the first waiter's read has set the watch. It is called
// when that read is answered, in order with the events, even if the waiter has
// left by then: events that come before it are not this watch's.
func (w *sharedWatch) armed(ok, missing bool) {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	switch {
	case w.isDone: // the session ended
	case !ok:
		w.finishLocked(zk.Event{}, errWatchGone)
	default:
		w.isSet, w.missing = true, missing
		close(w.ready)
		w.withdrawIfUnusedLocked()
	}
}

// leave removes a waiter.
func (w *sharedWatch) leave() {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	w.waiters--
	w.withdrawIfUnusedLocked()
}

// withdrawIfUnusedLocked takes the watch back from the server when nobody waits
// for it. Requests that set it again come later on the same connection, because
// join cannot see the key free before the withdrawal is queued.
func (w *sharedWatch) withdrawIfUnusedLocked() {
	if w.waiters > 0 || !w.isSet || w.isDone {
		return
	}
	w.all.session.link.RemoveWatch(w.key)
	w.finishLocked(zk.Event{}, ErrWatchStopped)
}

func (w *sharedWatch) finishLocked(ev zk.Event, err error) {
	delete(w.all.shared, w.key)
	w.event, w.err, w.isDone = ev, err, true
	close(w.done)
}

// restore passes the watches that the server should have to set, on a new
// connection. Nothing is withdrawn meanwhile.
func (ws *watches) restore(set func([]transport.SetWatch)) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	var all []transport.SetWatch
	for key, w := range ws.shared {
		if w.isSet {
			all = append(all, transport.SetWatch{Watch: key, Missing: w.missing})
		}
	}
	set(all)
}

// fired is called for every watch event, in order.
func (ws *watches) fired(ev transport.Event) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	event := zk.Event{Type: zk.EventType(ev.Type), State: zk.State(ev.State), Path: ev.Path}
	for _, table := range tablesOf(event.Type) {
		if w := ws.shared[transport.Watch{Path: ev.Path, Table: table}]; w != nil && w.isSet {
			w.finishLocked(event, nil)
		}
	}
}

func tablesOf(t zk.EventType) []transport.Table {
	switch t {
	case zk.EventNodeChildrenChanged:
		return []transport.Table{transport.Children}
	case zk.EventNodeDeleted:
		return []transport.Table{transport.Data, transport.Children}
	default:
		return []transport.Table{transport.Data}
	}
}

// count returns how many watches the server has for us.
func (ws *watches) count() (n int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.shared {
		if w.isSet {
			n++
		}
	}
	return n
}

// end finishes every watch, because the session is over.
func (ws *watches) end() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.ended = true
	for _, w := range ws.shared {
		w.finishLocked(zk.Event{}, ws.endError())
	}
}

func (ws *watches) endError() error {
	return fmt.Errorf("watch ended: %w", context.Cause(ws.session.ctx))
}
