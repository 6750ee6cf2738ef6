package framework

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// watches are the server's watches of one session: at most one for each table
// of each node, however many local waiters share it. That invariant makes it
// certain which watch an event belongs to.
type watches struct {
	session    *Session
	persistent *persistentWatches

	mu     *sync.Mutex // of persistent; protects the following fields, and the fields of every sharedWatch that say so
	ended  bool
	shared map[transport.Watch]*sharedWatch
	reads  map[sharedReadKey]*sharedRead // that nobody has begun yet

	// lookingSince is before every change that a look which is under way may
	// tell of; see watch_looks.go.
	lookingSince int64

	replays replays
	probes  chan struct{} // capacity 1: setWatches is to be tried
}

// sharedWatch is one watch on the server, with its local waiters.
type sharedWatch struct {
	all   *watches
	key   transport.Watch
	ready chan struct{} // closed when the read that sets it is answered, or will not be

	// done ends when the watch has fired, could not be set, or its session has
	// ended.
	done context.Context
	end  context.CancelFunc

	// carrier is a persistent watch on the same path that was there before. The
	// server is not asked for this watch then; see persistentWatches.
	carrier *persistentWatch

	// Set before done ends.
	event zk.Event
	err   error

	// Protected by all.mu.
	waiters int
	settled bool // the read that sets it is answered, or will not be
	isSet   bool
	missing bool // the node did not exist when the watch was set
	isDone  bool

	asOf     int64 // every change behind this transaction is told, or lost
	seasoned bool  // it was set before the last look
}

func newWatches(s *Session) *watches {
	p := &s.client.persistent
	return &watches{
		session: s, persistent: p, mu: &p.mu, lookingSince: math.MaxInt64,
		shared: map[transport.Watch]*sharedWatch{}, reads: map[sharedReadKey]*sharedRead{},
		probes: make(chan struct{}, 1),
	}
}

// begin makes these the watches of the present session, which has a link by
// now: readers may use it at once.
func (ws *watches) begin() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.persistent.session = ws
	ws.persistent.disconnectLocked()
}

// errWatchGone ends a watch that could not be set.
var errWatchGone = errors.New("shared watch is gone")

// addLocked adds a watch that is on its way to the server. Its read must call
// armedLocked.
func (ws *watches) addLocked(key transport.Watch) *sharedWatch {
	w := &sharedWatch{all: ws, key: key, ready: make(chan struct{}), carrier: ws.persistent.byPath[key.Path]}
	w.done, w.end = context.WithCancel(context.Background())
	ws.shared[key] = w
	return w
}

// armedLocked notes whether a read has set the watch. It is called when that
// read is answered, in order with the events, even if all waiters have left by
// then: events that come before it are not this watch's.
func (w *sharedWatch) armedLocked(ok, missing bool) {
	defer w.all.persistent.standardSettledLocked(w.key.Path)
	w.settled = true
	close(w.ready)
	switch {
	case w.isDone: // the session ended
	case !ok || !w.carriedLocked():
		w.finishLocked(zk.Event{}, errWatchGone)
	default:
		w.isSet, w.missing = true, missing
		w.asOf = w.all.session.link.LastZxid() // the answer's
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
// no read can see the key free before the withdrawal is queued.
func (w *sharedWatch) withdrawIfUnusedLocked() {
	if w.waiters > 0 || !w.isSet || w.isDone {
		return
	}
	if w.all.persistent.byPath[w.key.Path] == nil {
		w.all.session.link.RemoveWatch(w.key)
	}
	w.finishLocked(zk.Event{}, ErrWatchStopped)
}

func (w *sharedWatch) finishLocked(ev zk.Event, err error) {
	delete(w.all.shared, w.key)
	w.event, w.err, w.isDone = ev, err, true
	w.end()
	w.all.persistent.withdrawIfUnusedLocked(w.key.Path)
}

// carriedLocked reports whether the watch's carrier, if it has one, is there.
func (w *sharedWatch) carriedLocked() bool {
	p := w.all.persistent
	return w.carrier == nil || p.byPath[w.key.Path] == w.carrier && w.carrier.armed
}

// settingLocked reports whether a standard watch on the path is on its way to
// the server.
func (ws *watches) settingLocked(path string) bool {
	return ws.anyLocked(path, func(w *sharedWatch) bool { return w.carrier == nil && !w.settled })
}

// usesLocked reports whether there is a standard watch on the path, or will be.
func (ws *watches) usesLocked(path string) bool {
	return ws.anyLocked(path, func(*sharedWatch) bool { return true })
}

func (ws *watches) anyLocked(path string, is func(*sharedWatch) bool) bool {
	if ws == nil {
		return false
	}
	for _, table := range []transport.Table{transport.Data, transport.Children} {
		if w := ws.shared[transport.Watch{Path: path, Table: table}]; w != nil && is(w) {
			return true
		}
	}
	return false
}

// restore passes the watches that the server should have to set, on a new
// connection. Nothing is withdrawn meanwhile.
//
// A handshake may end when its session is over, and even when the next one is
// connected: the goroutine that reads the answer may get no processor before.
// The persistent watches are the next session's by then.
func (ws *watches) restore(set func([]transport.SetWatch)) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.session.ctx.Err() != nil {
		set(nil)
		return
	}
	ws.endUnlessReplayedLocked()
	var all []transport.SetWatch
	for key, w := range ws.shared {
		if w.isSet {
			all = append(all, transport.SetWatch{Watch: key, Missing: w.missing})
		}
	}
	set(append(all, ws.persistent.restoreLocked()...))
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
	if parent, ok := ws.persistent.childrenOfLocked(ev); ok {
		if w := ws.shared[transport.Watch{Path: parent, Table: transport.Children}]; w != nil && w.isSet {
			event := zk.Event{Type: zk.EventNodeChildrenChanged, State: event.State, Path: parent}
			w.finishLocked(event, nil)
		}
	}
	ws.persistent.firedLocked(ws, ev)
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
	for _, w := range ws.persistent.byPath {
		if w.armed {
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
