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

// Owner is the part of a session that the watches need.
type Owner struct {
	Context context.Context // the session's context, whose cause is the reason for the end

	// Spawn runs a function in a goroutine, with a context that ends with the
	// client.
	Spawn func(f func(ctx context.Context)) bool

	// Judge returns the error for a server's code, and whether the request may succeed
	// later.
	Judge func(code int32) (later bool, err error)
}

// Session has the server's watches of one session: at most one for each table of each
// node, however many local waiters share it. That invariant ensures that each event
// belongs to a known watch.
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

	// lookingSince is a zxid before every change that the current check may report; see
	// looks.go.
	lookingSince int64
}

// NewSession returns the watches of a session without watches. They must not be used
// before Begin.
func NewSession(p *Persistent, o Owner) *Session {
	return &Session{
		owner: o, persistent: p, mu: &p.mu, lookingSince: math.MaxInt64,
		shared: map[transport.Watch]*Watch{}, inFlight: map[transport.Watch]readings{},
	}
}

// Begin makes ws the watches of the client's present session. Readers may use its link
// at once.
func (ws *Session) Begin(link *transport.Link) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.link = link
	ws.persistent.session = ws
	ws.persistent.disconnectLocked()
}

// ErrStopped means that a watch was stopped before it fired.
var ErrStopped = errors.New("watch stopped")

// settingLocked reports whether a request for a standard watch on the path is under
// way.
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

// isLookingLocked reports whether a check is under way. Events that arrive meanwhile may
// be about changes at any time and in any order.
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
// in which the server has sent them. So an event before the answer belongs to an earlier
// watch, and the answer already reflects the change.
type Read struct {
	all *Session
	key transport.Watch

	// carrier is a persistent watch on the same path that the server has set. With a
	// carrier, the read sets no watch; see Persistent.
	carrier *persistentWatch

	// Protected by all.mu.
	answered bool
	left     bool   // the caller does not want the watch
	watch    *Watch // nil if the answer has none
}

// readings counts the unanswered reads of one watch.
type readings struct {
	all     int
	setting int // reads without a carrier
}

// BeginRead begins a read. If the server is about to set a persistent watch on the path,
// BeginRead returns no read, and later is closed when the caller should try again. The
// caller must call Answered for each read.
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

// Answered is called once, in order with the events. ok is true if the server now has
// the watch; if the read was not sent, ok is false. missing is true if the node does not exist
// and the watch is for its creation.
func (r *Read) Answered(ok, missing bool) {
	ws := r.all
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if r.answered {
		panic("watches: a read is answered twice") // its request has stayed in the queue
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
		w = &Watch{all: ws, key: key, asOf: ws.link.LastZxid()} // the zxid of the answer
		ws.shared[key] = w
	}
	w.missing = missing
	if ws.ended {
		w.finishLocked(ws.EndError())
	}
	return w
}

// Watch returns the watch of a read whose answer has a value, or nil if the carrier was
// removed meanwhile and the caller must read again. The caller becomes a waiter of the
// watch.
func (r *Read) Watch() *Watch {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	return r.watch
}

// Leave is for a caller that does not want the watch. The answer may arrive later.
func (r *Read) Leave() {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	r.left = true
	if r.watch != nil {
		r.watch.leaveLocked()
	}
}

// firedLocked passes an event on to the readers. It drops an event that arrives before
// the watch is confirmed, because the readers will get a Reset anyway.
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
	// A standard watch on a node below gets separate events for its children, which a
	// recursive watch above must ignore (ZOOKEEPER-4475).
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

// firedLocked handles an event of the watch's own node. A recursive watch learns about
// children from their own events, and servers since 3.9 may send both events.
func (w *persistentWatch) firedLocked(event Event) {
	ofChildren := event.Type == zk.EventNodeChildrenChanged
	for r := range w.readers {
		if !ofChildren || !r.recursive && !w.armedRecursive {
			r.pushLocked(event)
		}
	}
}

// firedBelowLocked handles an event of a node below. The creation or deletion of a
// child is an event for readers without recursion.
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

// childrenOfLocked returns the path whose standard watch for children fires with an
// event of a child. That is the case only where a recursive watch may have replaced the
// standard watch.
func (p *Persistent) childrenOfLocked(ev transport.Event) (parent string, ok bool) {
	created := []zk.EventType{zk.EventNodeCreated, zk.EventNodeDeleted}
	if p.recursive == 0 || ev.Path == "/" || !slices.Contains(created, zk.EventType(ev.Type)) {
		return "", false
	}
	parent, _ = znode.Split(ev.Path)
	w := p.byPath[parent]
	return parent, w != nil && w.recursive
}
