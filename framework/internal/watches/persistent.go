package watches

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/gocurator/curator/framework/internal/transport"
)

// Persistent has the persistent watches of a client: at most one for each path, however
// many readers share it. They survive sessions: every new connection sets them again.
//
// Servers before 3.9 keep one mode for each path and connection. A new standard watch
// replaces a persistent one, which then fires only once (ZOOKEEPER-4466). Removing the
// standard watch removes half of a persistent one (ZOOKEEPER-4471), and a persistent
// watch cannot be removed without the standard one (ZOOKEEPER-4472). These rules make
// that harmless with any version of the server:
//
//   - If a path has a persistent watch, a read sets no standard watch: the standard
//     watch gets the events of the persistent one. See Read.carrier. If a request for
//     the persistent watch is under way, the read waits for the answer, but not for a
//     pause.
//   - A persistent watch is set after every pending standard watch on the same path,
//     and replaces it.
//   - A standard watch on the path of a persistent one is not removed, unless the
//     server refuses the persistent watch.
//   - A persistent watch is removed together with all watches on its path, and only
//     when neither a reader nor a standard watch needs it.
//   - A path has only one of the two persistent modes. It becomes recursive when the
//     first reader asks for recursion, and stays recursive. Readers without recursion
//     then learn about children from the children's own events.
type Persistent struct {
	// mu protects the following fields, the fields of every persistentWatch and
	// Reader, and the watches of every session.
	mu         sync.Mutex
	session    *Session                    // the watches of the newest session
	connection uint64                      // how often a connection was established, or a session begun
	byPath     map[string]*persistentWatch // forgetLocked removes an unused or refused watch
	recursive  int                         // the number of recursive watches
}

// persistentWatch is one persistent watch on the server, with its readers. The
// mutex Persistent.mu protects the fields.
type persistentWatch struct {
	path      string
	readers   map[*Reader]struct{}
	recursive bool // what the server was asked for, or will be

	// The server of this connection has confirmed the watch, and has confirmed it as
	// recursive, perhaps later.
	armed, armedRecursive bool

	trouble error         // why the server has not set the watch yet, or nil
	asked   int           // requests for the watch that are unanswered on this connection
	waiting bool          // a standard watch is being set first, and this watch will follow
	left    bool          // the server may have a standard watch without waiters
	changed chan struct{} // closed when the server has answered, or the watch has ended, and then replaced
}

// NewPersistent returns the persistent watches of a new client.
func NewPersistent() *Persistent {
	return &Persistent{byPath: map[string]*persistentWatch{}}
}

// Open adds a reader to the watch of its path. The caller must close the reader. The
// first event is a Reset, which means that the server has set the watch. Open makes no
// request in a session later than the caller's.
func (p *Persistent) Open(session *Session, path string, recursive bool) (*Reader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if session.owner.Context.Err() != nil {
		return nil, session.EndError()
	}
	r := &Reader{all: p, recursive: recursive, changed: make(chan struct{}, 1)}
	w := p.byPath[path]
	if w == nil {
		w = &persistentWatch{path: path, readers: map[*Reader]struct{}{}, changed: make(chan struct{})}
		p.byPath[path] = w
		w.readers[r], r.watch = struct{}{}, w
		p.wantLocked(w, recursive)
		p.setLocked(w)
		return r, nil
	}
	w.readers[r], r.watch = struct{}{}, w
	switch {
	case recursive && !w.recursive:
		p.wantLocked(w, true)
		p.setLocked(w)
	case w.serves(r):
		r.armLocked()
	}
	return r, nil
}

func (p *Persistent) wantLocked(w *persistentWatch, recursive bool) {
	if recursive && !w.recursive {
		w.recursive = true
		p.recursive++
	}
}

// serves reports whether the server sends all events that a reader needs.
func (w *persistentWatch) serves(r *Reader) bool {
	return w.armedRecursive || w.armed && !r.recursive
}

// isComing reports whether a read must not overtake the watch: the client has asked the
// server for the watch, or will do so as soon as another read is answered.
func (w *persistentWatch) isComing() bool { return !w.armed && (w.asked > 0 || w.waiting) }

// setLocked makes the server set the watch, now or when no standard watch on the same
// path is pending. Without a connection, the next connection sets the watch.
func (p *Persistent) setLocked(w *persistentWatch) {
	if w.waiting = p.session.settingLocked(w.path); w.waiting || p.session == nil {
		return
	}
	p.session.link.AddWatch(p.requestLocked(w))
}

// standardSettledLocked is called when a standard watch is no longer pending.
func (p *Persistent) standardSettledLocked(path string) {
	if w := p.byPath[path]; w != nil && w.waiting {
		p.setLocked(w)
	}
}

func (p *Persistent) requestLocked(w *persistentWatch) *transport.PersistentWatch {
	w.asked++
	connection, recursive, spawn := p.connection, w.recursive, p.session.owner.Spawn
	return &transport.PersistentWatch{Path: w.path, Recursive: recursive, Then: func(code int32, err error) {
		if err != nil {
			p.lost(w, connection)
		} else if p.answered(w, connection, recursive, code) {
			spawn(func(ctx context.Context) { p.setLater(ctx, w, connection) })
		}
	}}
}

func (w *persistentWatch) tell() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// withdrawIfUnusedLocked removes the watch of a path from the server if neither a
// reader nor a standard watch, which would be removed with it, needs the watch. The
// next reader's request follows on the same connection.
func (p *Persistent) withdrawIfUnusedLocked(path string) {
	w := p.byPath[path]
	if w == nil || len(w.readers) > 0 || p.session.usesLocked(path) {
		return
	}
	p.forgetLocked(w)
	if p.session != nil && (!w.waiting || w.left) {
		p.session.link.RemoveWatches(path)
	}
}

func (p *Persistent) forgetLocked(w *persistentWatch) {
	delete(p.byPath, w.path)
	if w.recursive {
		p.recursive--
	}
	w.tell()
}

// restoreLocked returns the watches to set on a new connection. A watch that waits for a
// standard watch is set after it. The server must confirm each watch again.
func (p *Persistent) restoreLocked() (all []*transport.PersistentWatch) {
	p.disconnectLocked()
	for _, path := range slices.Sorted(maps.Keys(p.byPath)) {
		w := p.byPath[path]
		if w.waiting = p.session.settingLocked(w.path); !w.waiting {
			all = append(all, p.requestLocked(w))
		}
	}
	return all
}

// disconnectLocked records that there is another connection or another session. Answers
// to earlier requests no longer count, and no read waits for them: a waiting read notices
// the end of the connection itself.
func (p *Persistent) disconnectLocked() {
	p.connection++
	for _, w := range p.byPath {
		w.armed, w.armedRecursive, w.left, w.asked = false, false, false, 0
		for r := range w.readers {
			r.armed = false
		}
	}
}
