package transport

import (
	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/framework/internal/proto"
)

// Table is one of the two tables in which a server keeps a connection's
// watches. To the server, all watches of one table on one path are one watch.
// The values are ZooKeeper's WatcherType, as in removeWatches.
type Table int32

// A Children watch is set by listing a node's children. A Data watch is set by
// reading the node's data or asking for its existence.
const (
	Children Table = 1
	Data     Table = 2
)

// Watch identifies one of this client's watches on the server.
type Watch struct {
	Path  string
	Table Table
}

// SetWatch is a watch that is to be set again: a standard one, or a persistent
// one if Persistent is not nil.
type SetWatch struct {
	Watch
	Missing    bool // the node did not exist when the watch was set
	Persistent *PersistentWatch
}

// Event is a watch event. Type and State are the protocol's numbers, which are
// also the library's. Zxid is the change's, or -1 if the server does not tell
// it. Servers before 3.9 never tell it. Later ones tell it except for changes
// that the client has slept through.
type Event struct {
	Type, State int32
	Path        string
	Zxid        int64
}

// setWatchesSize bounds the paths in one setWatches request, in bytes. It is
// far below the limit of servers, unless that is configured to be lower. A path
// that is longer still goes alone.
const setWatchesSize = 128 << 10

// setWatchesHeader is the size of a setWatches request without its paths: xid,
// operation, zxid, and the lengths of its three lists.
const setWatchesHeader = 4 + 4 + 8 + 3*proto.LengthSize

// isRefusedSetWatches reports whether a reply says that watches were not set
// again. Its zxid does not count: it is newer than the changes of which the
// server was to tell.
func isRefusedSetWatches(op int32, r reply) bool {
	return op == proto.OpSetWatches && r.Code != proto.CodeOK
}

// SetWatches sets standard watches again that the server may have, or may have
// had. It tells at once of nodes that have changed since a transaction, and
// sets the watches of the others. The calls are nil if there is no connection.
//
// The requests do not wait for room, so that a request that removes one of the
// watches comes behind them. The caller sees to it that they are few. There
// must be no persistent watch on the same paths: servers before 3.9 would
// replace it.
func (l *Link) SetWatches(since int64, watches []SetWatch) (calls []*Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.conn
	if c == nil || !c.established {
		return nil
	}
	for _, batch := range batchesOf(watches, c.setWatchesSize()) {
		call, err := c.enqueueSetWatchesLocked(since, batch, nil)
		if err != nil {
			return nil
		}
		calls = append(calls, call)
	}
	c.signal()
	return calls
}

// batchesOf divides watches among requests with no more than limit bytes of
// paths.
func batchesOf(watches []SetWatch, limit int) (all []watchLists) {
	for _, w := range watches {
		if n := len(all); n == 0 || all[n-1].size+w.size() > limit {
			all = append(all, watchLists{})
		}
		all[len(all)-1].add(w)
	}
	return all
}

// watchLists sorts watches into the lists of setWatches. From its list, the
// server knows how to tell whether a watch has fired meanwhile.
type watchLists struct {
	data, exist, child []string
	size               int
}

func (l *watchLists) add(w SetWatch) {
	list := &l.data
	switch {
	case w.Table == Children:
		list = &l.child
	case w.Missing:
		list = &l.exist
	}
	*list = append(*list, w.Path)
	l.size += w.size()
}

func (w SetWatch) size() int { return proto.LengthSize + len(w.Path) }

// RemoveWatch removes a watch from the server. Without a connection there is
// nothing to do: the server removes the watches of a connection with the
// connection, and only those in Config.Watches are set again. RemoveWatch does
// no I/O. A request that sets the same watch again must be sent after it.
func (l *Link) RemoveWatch(w Watch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.conn
	if c == nil || !c.established {
		return
	}
	// The answer makes no difference: if the server has no such watch any
	// more, then the watch has fired.
	payload := func(b []byte) []byte {
		return jute.AppendInt32(jute.AppendString(b, w.Path), int32(w.Table))
	}
	if c.waitingWatches > 0 { // the watch may be among them
		c.enqueueWaiterLocked(&Call{Op: proto.OpRemoveWatches, Payload: payload})
		return
	}
	c.enqueueLocked(proto.OpRemoveWatches, payload, nil)
	c.signal()
}

// PersistentWatch is a watch that stays when it has fired. It is told of
// everything that happens to its node and of every creation and deletion of a
// child. A recursive one is told of everything that happens to its node and to
// every node below it.
//
// A server before 3.9 has one watch for a path: the one that was set last takes
// the place of a standard or persistent one on the same path (ZOOKEEPER-4466).
// So persistent watches are set behind the standard ones, and the owner of the
// link sets no standard watch where there is a persistent one.
type PersistentWatch struct {
	Path      string
	Recursive bool

	// Then is called as that of a Call is: when the server has
	// answered, or cannot answer any more.
	Then func(code int32, err error)
}

// Modes of addWatch, as in AddWatchMode of ZooKeeper.
const (
	modePersistent int32 = 0
	modeRecursive  int32 = 1
)

// anyTable is ZooKeeper's WatcherType for all watches of a path. Servers before
// 3.9 know no other that takes all of a persistent watch away.
const anyTable Table = 3

// AddWatch sets a persistent watch. Without a connection there is nothing to
// do, and Then is not called: each new connection sets the watches of
// Config.Watches. AddWatch does no I/O. If too much is under way already, the
// request waits for room like others, and nobody waits for it.
func (l *Link) AddWatch(w *PersistentWatch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.conn
	if c == nil || !c.established {
		return
	}
	c.enqueueAddWatchLocked(w)
	c.signal()
}

// RemoveWatches removes every watch on a path from the server, as RemoveWatch
// removes one.
func (l *Link) RemoveWatches(path string) { l.RemoveWatch(Watch{path, anyTable}) }
