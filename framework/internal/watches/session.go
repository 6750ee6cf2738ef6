package watches

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/znode"
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
	mu       *sync.Mutex
	ended    bool
	shared   map[transport.Watch]*Watch   // finishLocked removes a watch that is done
	inFlight map[transport.Watch]readings // the answers to the reads remove them

	// lookingSince is before every change that a look which is under way may
	// tell of; see looks.go.
	lookingSince int64
}

// NewSession returns the watches of a session that has none. They are of no use
// before Begin.
func NewSession(p *Persistent, o Owner) *Session {
	return &Session{
		owner: o, persistent: p, mu: &p.mu, lookingSince: math.MaxInt64,
		shared: map[transport.Watch]*Watch{}, inFlight: map[transport.Watch]readings{},
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

// settingLocked reports whether a standard watch on the path is on its way to
// the server.
func (ws *Session) settingLocked(path string) bool {
	return ws != nil && ws.inFlight[transport.Watch{Path: path, Table: transport.Data}].setting+
		ws.inFlight[transport.Watch{Path: path, Table: transport.Children}].setting > 0
}

// usesLocked reports whether there is a standard watch on the path, or will be.
func (ws *Session) usesLocked(path string) bool {
	if ws == nil {
		return false
	}
	for _, table := range []transport.Table{transport.Data, transport.Children} {
		key := transport.Watch{Path: path, Table: table}
		if ws.shared[key] != nil || ws.inFlight[key].all > 0 {
			return true
		}
	}
	return false
}

// Fired is called for every watch event, in order.
func (ws *Session) Fired(ev transport.Event) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	event, state := zk.EventType(ev.Type), zk.State(ev.State)
	for _, table := range tablesOf(event) {
		if w := ws.shared[transport.Watch{Path: ev.Path, Table: table}]; w != nil {
			w.inOrder = !w.isAnew && !ws.isLookingLocked()
			w.firedLocked(event, state)
		}
	}
	if parent, ok := ws.persistent.childrenOfLocked(ev); ok {
		if w := ws.shared[transport.Watch{Path: parent, Table: transport.Children}]; w != nil {
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

// firedLocked passes an event on to the readers. It leaves out an event that
// comes before the watch is confirmed: the readers will be told to look anyway.
func (p *Persistent) firedLocked(session *Session, ev transport.Event) {
	if session != p.session || len(p.byPath) == 0 {
		return
	}
	event := Event{
		Type: zk.EventType(ev.Type), Path: ev.Path, Zxid: max(ev.Zxid, 0),
		After: min(session.link.LastZxid(), session.lookingSince),
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
func (w *persistentWatch) firedLocked(event Event) {
	ofChildren := event.Type == zk.EventNodeChildrenChanged
	for r := range w.readers {
		if !ofChildren || !r.recursive && !w.armedRecursive {
			r.pushLocked(event)
		}
	}
}

// firedBelowLocked is about an event of a node below. A child that comes or
// goes is an event for the readers that are not recursive.
func (w *persistentWatch) firedBelowLocked(event Event, child bool) {
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
func (p *Persistent) childrenOfLocked(ev transport.Event) (parent string, ok bool) {
	created := []zk.EventType{zk.EventNodeCreated, zk.EventNodeDeleted}
	if p.recursive == 0 || ev.Path == "/" || !slices.Contains(created, zk.EventType(ev.Type)) {
		return "", false
	}
	parent, _ = znode.Split(ev.Path)
	w := p.byPath[parent]
	return parent, w != nil && w.recursive
}
