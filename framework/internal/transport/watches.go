package transport

import "github.com/gocurator/curator/framework/internal/jute"

// Table is one of the two tables in which a server keeps a connection's watches. Watches of one table on one path are
// one watch to the server. The values are those of removeWatches.
type Table int32

// Children watches are set by listing a node's children, Data watches by reading its data or asking for its existence.
const (
	Children Table = 1
	Data     Table = 2
)

// Watch names a server's watch of this client.
type Watch struct {
	Path  string
	Table Table
}

// StateWithdrawn is the state in the event by which the library is made to forget a withdrawn watch.
// No server sends it.
const StateWithdrawn = 0x7e01

// kind is how the library files a watch. It sets watches again by kind.
type kind int8

const (
	noWatch kind = iota
	childKind
	dataKind
	existKind // on a node that does not exist
)

type watch struct {
	path string
	kind kind
}

func kindOf(op int32) kind {
	switch op {
	case opGetChildren2:
		return childKind
	case opGetData:
		return dataKind
	default:
		return existKind
	}
}

// watchTable mirrors the library's list of watches: what it will set again after a reconnect.
// It is updated as the library reads each frame, so the two never differ.
type watchTable map[watch]struct{}

// answered notes the watch that a request has set, if any, by its reply's error code.
func (t watchTable) answered(w watch, err int32) {
	switch {
	case w.kind == noWatch:
	case err == 0 && w.kind == existKind:
		t[watch{w.path, dataKind}] = struct{}{}
	case err == 0, err == errNoNode && w.kind == existKind:
		t[w] = struct{}{}
	}
}

// Event types of notifications.
const (
	eventCreated         = 1
	eventDeleted         = 2
	eventDataChanged     = 3
	eventChildrenChanged = 4
)

// fired removes the watches that an event uses up.
func (t watchTable) fired(n notification) {
	switch n.event {
	case eventCreated:
		delete(t, watch{n.path, existKind})
	case eventDataChanged:
		delete(t, watch{n.path, existKind})
		delete(t, watch{n.path, dataKind})
	case eventChildrenChanged:
		delete(t, watch{n.path, childKind})
	case eventDeleted:
		delete(t, watch{n.path, existKind})
		delete(t, watch{n.path, dataKind})
		delete(t, watch{n.path, childKind})
	}
}

// withdrawnEvent is the type of event that makes the library drop all its watches of one table on a path.
func withdrawnEvent(t Table) int32 {
	if t == Children {
		return eventChildrenChanged
	}
	return eventDataChanged
}

// Withdraw takes back a watch that nobody waits for: the server and the library forget it. If there is no connection,
// that happens on the next one. The caller must not withdraw a watch that somebody else still waits for, and must
// call Withdraw before it sends a request that sets the same watch again.
func (l *Link) Withdraw(w Watch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.withdrawing[w] = struct{}{}
	if c := l.conn; c != nil && c.established && c.gate.open() {
		c.sendWithdraw(w)
	}
}

// withdrawLocked repeats, on a new connection, what the previous one did not see answered. The library has just set
// these watches again.
func (c *Conn) withdrawLocked() {
	for w := range c.link.withdrawing {
		c.sendWithdraw(w)
	}
}

func (c *Conn) sendWithdraw(w Watch) {
	xid := c.link.nextOwnXid()
	c.withdrawals[xid] = w
	r := request{xid: xid, op: opRemoveWatches}
	c.enqueue(r, appendRequest(nil, r, func(b []byte) []byte {
		return jute.AppendInt32(jute.AppendString(b, w.Path), int32(w.Table))
	}))
	c.signal()
}

// withdrawn turns the reply to removeWatches into the event that makes the library forget the watch. It makes no
// difference what the server answered: if it had no such watch any more, the event that used it up came first.
func (c *Conn) withdrawn(w Watch) []byte {
	delete(c.link.withdrawing, w)
	n := notification{event: withdrawnEvent(w.Table), path: w.Path}
	c.link.watches.fired(n)
	return appendNotification(nil, n.event, StateWithdrawn, n.path)
}
