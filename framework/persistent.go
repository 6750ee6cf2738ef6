package framework

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// persistentWatches are the persistent watches of a client: at most one for
// each path, however many Watchers share it. They outlive sessions: every new
// connection sets them again.
//
// Servers before 3.9 keep one mode for each path and connection. A standard
// watch that is set takes the place of a persistent one, which then fires once
// (ZOOKEEPER-4466). Removing the standard watch takes half of a persistent one
// away (ZOOKEEPER-4471), and a persistent one cannot be removed without the
// standard one (ZOOKEEPER-4472). These rules make that harmless, and need not
// know the server's version:
//
//   - Where there is a persistent watch, a standard one is not set, but rides on
//     it: it hears of the persistent watch's events. See sharedWatch.carrier.
//   - A persistent watch is set behind every standard one that is on its way to
//     the same path, and takes its place.
//   - A standard watch on the path of a persistent one is not removed.
//   - A persistent watch is removed with all others on its path, and only when
//     neither a Watcher nor a standard watch needs it.
//   - Of the two persistent modes, a path has one. It becomes recursive when the
//     first Watcher asks for that, and stays so. Watchers that are not recursive
//     are told of the children by the children's own events.
type persistentWatches struct {
	client *Client

	mu         sync.Mutex // protects the following fields, those of every persistentWatch and Watcher, and the watches of every session
	session    *watches   // the newest session's
	connection uint64     // how often a connection was established, or a session begun
	byPath     map[string]*persistentWatch
	recursive  int      // how many of them are recursive
	tooOld     *watches // the session whose server said that it knows no persistent watches
	refusal    error    // what it said, or how else that is known

	ends   int // how many connections in a row have ended with a request for a watch
	proven int // of these, that had held until the request was sent
}

// persistentWatch is one persistent watch on the server, with its readers. The
// mutex persistentWatches.mu protects the fields.
type persistentWatch struct {
	path      string
	readers   map[*Watcher]struct{}
	recursive bool // what the server was asked for, or will be

	// The server of this connection has confirmed the watch, and has confirmed
	// it as a recursive one. The second may come later.
	armed, armedRecursive bool

	trouble error         // why the server has not set it yet, or nil
	waiting bool          // to be set when a standard watch is not on its way any more
	changed chan struct{} // closed when the watch is armed, or has ended, and then replaced
}

// open adds a reader to the watch of its path.
func (p *persistentWatches) open(path string, r *Watcher) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session != nil && p.tooOld == p.session {
		return p.refusal
	}
	w := p.byPath[path]
	if w == nil {
		w = &persistentWatch{path: path, readers: map[*Watcher]struct{}{}, changed: make(chan struct{})}
		p.byPath[path] = w
		w.readers[r], r.watch = struct{}{}, w
		p.wantLocked(w, r.recursive)
		p.setLocked(w)
		return nil
	}
	w.readers[r], r.watch = struct{}{}, w
	switch {
	case r.recursive && !w.recursive:
		p.wantLocked(w, true)
		p.setLocked(w)
	case w.serves(r):
		r.armLocked()
	}
	return nil
}

func (p *persistentWatches) wantLocked(w *persistentWatch, recursive bool) {
	if recursive && !w.recursive {
		w.recursive = true
		p.recursive++
	}
}

// serves reports whether the server tells of all that a reader wants to know.
func (w *persistentWatch) serves(r *Watcher) bool {
	return w.armedRecursive || w.armed && !r.recursive
}

// setLocked has the server set the watch, now or when no standard watch on the
// same path is on its way. Without a connection, the next one will.
func (p *persistentWatches) setLocked(w *persistentWatch) {
	if w.waiting = p.session.settingLocked(w.path); w.waiting || p.session == nil {
		return
	}
	if p.ends >= manyEnds {
		p.setAfterLocked(w, 2*provenAfter)
		return
	}
	p.session.session.link.AddWatch(p.requestLocked(w))
}

// setAfterLocked has the server set the watch after a pause, if the connection
// has held until then.
func (p *persistentWatches) setAfterLocked(w *persistentWatch, pause time.Duration) {
	connection := p.connection
	p.client.spawn(func(ctx context.Context) { p.setLater(ctx, w, connection, pause) })
}

// standardSettledLocked is called when a standard watch is no longer on its
// way.
func (p *persistentWatches) standardSettledLocked(path string) {
	if w := p.byPath[path]; w != nil && w.waiting {
		p.setLocked(w)
	}
}

func (p *persistentWatches) requestLocked(w *persistentWatch) *transport.PersistentWatch {
	connection, recursive := p.connection, w.recursive
	return &transport.PersistentWatch{Path: w.path, Recursive: recursive, Then: func(code int32, err error) {
		if err == nil && p.answered(w, connection, recursive, code) {
			p.client.spawn(func(ctx context.Context) { p.setLater(ctx, w, connection, busyPause) })
		}
	}}
}

// answered notes the server's answer to addWatch. It comes in order with the
// events. It reports whether the watch must be asked for again.
func (p *persistentWatches) answered(w *persistentWatch, connection uint64, recursive bool, code int32) (again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ends, p.proven = 0, 0
	if !p.isCurrentLocked(w, connection) {
		return false
	}
	if code != proto.CodeOK {
		return p.refusedLocked(w, recursive, errorOf(code))
	}
	w.armed, w.armedRecursive, w.trouble = true, w.armedRecursive || recursive, nil
	p.wantLocked(w, recursive) // an earlier request may have been refused meanwhile
	w.tell()
	for r := range w.readers {
		if !r.armed && w.serves(r) {
			r.armLocked()
		}
	}
	return false
}

func (p *persistentWatches) isCurrentLocked(w *persistentWatch, connection uint64) bool {
	return p.byPath[w.path] == w && p.connection == connection
}

// refusedLocked ends a watch that the server will not set. A server that knows
// no persistent watches ends all of them: it closes the connection for each one
// that it is asked for. A recursive watch that is refused ends the Watchers that
// asked for it; the others go on with one of the node alone. refusedLocked
// reports whether the watch must be asked for again: that one, or the same one,
// because the server only has too much to do now.
func (p *persistentWatches) refusedLocked(w *persistentWatch, recursive bool, err error) (again bool) {
	if retryable(err) {
		w.troubledLocked(err)
		return true
	}
	if reason.Is(err, errUnimplemented) {
		p.endAllLocked(err)
		return false
	}
	if recursive && w.hasReadersOfNode() {
		p.endRecursiveLocked(w, err)
		return !w.armed
	}
	p.endLocked(w, err)
	return false
}

// troubledLocked notes why the watch is not set yet, for those who wait.
func (w *persistentWatch) troubledLocked(err error) {
	w.trouble = err
	for r := range w.readers {
		r.wake()
	}
}

func (p *persistentWatches) endAllLocked(err error) {
	p.tooOld, p.refusal = p.session, err
	for _, each := range p.byPath {
		p.endLocked(each, err)
	}
}

// endedWith is called when a connection has ended with requests that were not
// answered. If connections end with requests for watches, one after the other,
// those are held back until a connection has lasted without them. If two such
// connections end as soon as they are asked for a watch, that is as if the server
// had said that it knows no such request.
func (p *persistentWatches) endedWith(session *watches, all []transport.Unanswered) {
	i := slices.IndexFunc(all, func(r transport.Unanswered) bool { return r.Op == proto.OpAddWatch })
	if i < 0 {
		return
	}
	if found := p.noteEnd(session, all[i]); found != nil {
		p.client.warnOfSuspect("zookeeper servers end the connection whenever they are asked for a persistent watch", found)
	}
}

// noteEnd returns what the log is to be told, or nil.
func (p *persistentWatches) noteEnd(session *watches, r transport.Unanswered) *hangUpError {
	p.mu.Lock()
	defer p.mu.Unlock()
	if session != p.session {
		return nil
	}
	if p.ends++; r.Held >= provenAfter {
		p.proven++
	}
	id, size := identify(r.Request)
	found := &hangUpError{id, size, p.ends}
	if p.ends < manyEnds || p.proven < 2 {
		for _, w := range p.byPath {
			w.troubledLocked(fmt.Errorf("%w: %w", zk.ErrConnectionClosed, found))
		}
		return nil
	}
	p.ends, p.proven = 0, 0
	p.endAllLocked(fmt.Errorf("%w: %w", errUnimplemented, found))
	return found
}

// hasReadersOfNode reports whether a reader did not ask for a recursive watch.
func (w *persistentWatch) hasReadersOfNode() bool {
	for r := range w.readers {
		if !r.recursive {
			return true
		}
	}
	return false
}

// endRecursiveLocked ends the readers that asked for a recursive watch.
func (p *persistentWatches) endRecursiveLocked(w *persistentWatch, err error) {
	if w.recursive {
		w.recursive = false
		p.recursive--
	}
	for r := range w.readers {
		if r.recursive {
			r.failLocked(err)
			delete(w.readers, r)
		}
	}
}

func (p *persistentWatches) endLocked(w *persistentWatch, err error) {
	p.forgetLocked(w)
	for r := range w.readers {
		r.failLocked(err)
	}
}

// busyPause is how long a server that has too much to do is left alone.
const busyPause = 100 * time.Millisecond

func (p *persistentWatches) setLater(
	ctx context.Context, w *persistentWatch, connection uint64, pause time.Duration,
) {
	p.client.pause(pause)
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil || !p.isCurrentLocked(w, connection) {
		return
	}
	if w.waiting = p.session.settingLocked(w.path); !w.waiting {
		p.session.session.link.AddWatch(p.requestLocked(w))
	}
}

func (w *persistentWatch) tell() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// withdrawIfUnusedLocked takes the watch of a path back from the server when
// nobody needs it: no reader, and no standard watch, which would go with it.
// The next reader's request follows on the same connection.
func (p *persistentWatches) withdrawIfUnusedLocked(path string) {
	w := p.byPath[path]
	if w == nil || len(w.readers) > 0 || p.session.usesLocked(path) {
		return
	}
	p.forgetLocked(w)
	if p.session != nil && !w.waiting {
		p.session.session.link.RemoveWatches(path)
	}
}

func (p *persistentWatches) forgetLocked(w *persistentWatch) {
	delete(p.byPath, w.path)
	if w.recursive {
		p.recursive--
	}
	w.tell()
}

// restoreLocked returns the watches to set on a new connection. A watch that
// waits for a standard watch on its way is set after that. All of them must be
// confirmed anew.
func (p *persistentWatches) restoreLocked() (all []transport.SetWatch) {
	p.disconnectLocked()
	for _, w := range p.byPath {
		switch w.waiting = p.session.settingLocked(w.path); {
		case w.waiting:
		case p.ends >= manyEnds:
			p.setAfterLocked(w, 2*provenAfter)
		default:
			all = append(all, transport.SetWatch{Persistent: p.requestLocked(w)})
		}
	}
	return all
}

// disconnectLocked notes that there is another connection, or another session.
// What was asked for before is answered in vain.
func (p *persistentWatches) disconnectLocked() {
	p.connection++
	for _, w := range p.byPath {
		w.armed, w.armedRecursive = false, false
		for r := range w.readers {
			r.armed = false
		}
	}
}

// firedLocked passes an event on to the readers. It leaves out an event that
// comes before the watch is confirmed: the readers will be told to look anyway.
func (p *persistentWatches) firedLocked(session *watches, ev transport.Event) {
	if session != p.session || len(p.byPath) == 0 {
		return
	}
	event := WatchEvent{
		Type: zk.EventType(ev.Type), Path: ev.Path, Zxid: max(ev.Zxid, 0),
		After: min(session.session.link.LastZxid(), session.lookingSince),
	}
	if w := p.byPath[ev.Path]; w != nil {
		w.firedLocked(event)
	}
	// A standard watch on a node below has its own events of the children. They
	// are no business of a recursive watch above it (ZOOKEEPER-4475).
	if p.recursive == 0 || event.Type == zk.EventNodeChildrenChanged {
		return
	}
	for path := ev.Path; path != "/"; {
		parent, _ := znode.Split(path)
		if w := p.byPath[parent]; w != nil && w.recursive {
			w.firedBelowLocked(event, path == ev.Path)
		}
		path = parent
	}
}

// firedLocked is about an event of the watch's own node. A recursive watch
// knows of the children by their own events, and servers since 3.9 may tell
// both.
func (w *persistentWatch) firedLocked(event WatchEvent) {
	ofChildren := event.Type == zk.EventNodeChildrenChanged
	for r := range w.readers {
		if !ofChildren || !r.recursive && !w.armedRecursive {
			r.pushLocked(event)
		}
	}
}

// firedBelowLocked is about an event of a node below. A child that comes or
// goes is an event for the readers that are not recursive.
func (w *persistentWatch) firedBelowLocked(event WatchEvent, child bool) {
	for r := range w.readers {
		switch {
		case r.recursive:
			r.pushLocked(event)
		case child && event.Type != zk.EventNodeDataChanged:
			children := event
			children.Type, children.Path = zk.EventNodeChildrenChanged, w.path
			r.pushLocked(children)
		}
	}
}

// childrenOfLocked returns the path whose standard watch for children fires
// with an event of a child: only where a recursive watch may have taken the
// place of that watch.
func (p *persistentWatches) childrenOfLocked(ev transport.Event) (parent string, ok bool) {
	created := []zk.EventType{zk.EventNodeCreated, zk.EventNodeDeleted}
	if p.recursive == 0 || ev.Path == "/" || !slices.Contains(created, zk.EventType(ev.Type)) {
		return "", false
	}
	parent, _ = znode.Split(ev.Path)
	w := p.byPath[parent]
	return parent, w != nil && w.recursive
}
