package watches

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// Owner is what the watches need of their session.
type Owner struct {
	Context context.Context // the session's: its cause says why the session has ended

	// Spawn runs a function in a goroutine, with a context that ends with the
	// client.
	Spawn func(f func(ctx context.Context)) bool

	// Judge returns the error that a code of the server stands for, and whether
	// the request may succeed later.
	Judge func(code int32) (later bool, err error)
}

// Session has the server's watches of one session: at most one for each table
// of each node, however many local waiters share it. That invariant makes it
// certain which watch an event belongs to.
type Session struct {
	owner      Owner
	link       *transport.Link
	persistent *Persistent

	// mu is persistent.mu. It protects the following fields, and the fields of
	// every Watch that say so.
	mu     *sync.Mutex
	ended  bool
	shared map[transport.Watch]*Watch // finishLocked removes a watch that is done
	reads  map[ReadKey]*Read          // Begin removes a read, and so does the last caller that leaves before

	// lookingSince is before every change that a look which is under way may
	// tell of; see looks.go.
	lookingSince int64
}

// NewSession returns the watches of a session that has none. They are of no use
// before Begin.
func NewSession(p *Persistent, o Owner) *Session {
	return &Session{
		owner: o, persistent: p, mu: &p.mu, lookingSince: math.MaxInt64,
		shared: map[transport.Watch]*Watch{}, reads: map[ReadKey]*Read{},
	}
}

// Begin makes these the watches of the client's present session. Readers may use
// its link at once.
func (ws *Session) Begin(link *transport.Link) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.link = link
	ws.persistent.session = ws
	ws.persistent.disconnectLocked()
}

// ErrStopped means that a watch was stopped before it fired.
var ErrStopped = errors.New("watch stopped")

// errWatchGone ends a watch that could not be set.
var errWatchGone = errors.New("shared watch is gone")

// addLocked adds a watch that is on its way to the server. Its read must call
// armedLocked.
func (ws *Session) addLocked(key transport.Watch) *Watch {
	w := &Watch{all: ws, key: key}
	if p := ws.persistent.byPath[key.Path]; p != nil && p.armed {
		w.carrier = p
	}
	ws.shared[key] = w
	return w
}

// settingLocked reports whether a standard watch on the path is on its way to
// the server.
func (ws *Session) settingLocked(path string) bool {
	return ws.anyLocked(path, func(w *Watch) bool { return w.carrier == nil && !w.settled })
}

// usesLocked reports whether there is a standard watch on the path, or will be.
func (ws *Session) usesLocked(path string) bool {
	return ws.anyLocked(path, func(*Watch) bool { return true })
}

func (ws *Session) anyLocked(path string, is func(*Watch) bool) bool {
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

// Restore passes the watches that the server should have to set, on a new
// connection. Nothing is withdrawn meanwhile.
//
// A handshake may end when its session is over, and even when the next one is
// connected: the goroutine that reads the answer may get no processor before.
// The persistent watches are the next session's by then.
func (ws *Session) Restore(set func([]transport.SetWatch)) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.owner.Context.Err() != nil {
		set(nil)
		return
	}
	var all []transport.SetWatch
	for key, w := range ws.shared {
		if w.isSet {
			w.isAnew = true
			all = append(all, transport.SetWatch{Watch: key, Missing: w.missing})
		}
	}
	slices.SortFunc(all, bySetting)
	set(append(all, ws.persistent.restoreLocked()...))
}

// bySetting is the order in which watches are set again. It is the same each time, so
// that a test can play what follows from it again.
func bySetting(a, b transport.SetWatch) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Table, b.Table))
}

// Fired is called for every watch event, in order.
func (ws *Session) Fired(ev transport.Event) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	event, state := zk.EventType(ev.Type), zk.State(ev.State)
	for _, table := range tablesOf(event) {
		if w := ws.shared[transport.Watch{Path: ev.Path, Table: table}]; w != nil && w.isSet {
			w.inOrder = !w.isAnew && !ws.isLookingLocked()
			w.firedLocked(event, state)
		}
	}
	if parent, ok := ws.persistent.childrenOfLocked(ev); ok {
		if w := ws.shared[transport.Watch{Path: parent, Table: transport.Children}]; w != nil && w.isSet {
			w.firedLocked(zk.EventNodeChildrenChanged, state)
		}
	}
	ws.persistent.firedLocked(ws, ev)
}

// isLookingLocked reports whether the server is asked about watches. What it tells
// then may have happened at any time, and in another order.
func (ws *Session) isLookingLocked() bool { return ws.lookingSince != math.MaxInt64 }

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

// NotSet is called when the server has not set watches again on a new connection:
// it has refused that, or the connection has ended before the answer. The watches
// end without an event of the server, and their waiters read again. So a server
// that hangs up on the request, whatever the reason, is asked once for each
// connection that holds, and not for ever.
func (ws *Session) NotSet() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.owner.Context.Err() != nil {
		return // they end for that reason
	}
	for _, w := range ws.shared {
		if w.isSet && w.isAnew {
			w.firedLocked(zk.EventNotWatching, zk.StateDisconnected)
		}
	}
}

// End finishes every watch, because the session is over.
func (ws *Session) End() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.ended = true
	for _, w := range ws.shared {
		w.finishLocked(ws.EndError())
	}
}

// EndError returns the error of watches whose session is over.
func (ws *Session) EndError() error {
	return fmt.Errorf("watch ended: %w", context.Cause(ws.owner.Context))
}

// Count returns how many watches the server has for us.
func (ws *Session) Count() (n int) {
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

// Status is what there is to know of a watch. See framework.WatchStatus for the
// fields.
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
			Path: key.Path, Children: key.Table == transport.Children, Waiters: w.waiters, Set: w.isSet,
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
