package transport

import (
	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/framework/internal/proto"
)

// Table is one of the two tables in which a server keeps a connection's watches. For
// each path, a table has at most one watch. The values are ZooKeeper's WatcherType, as
// in removeWatches.
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

// SetWatch is a standard watch to set again.
type SetWatch struct {
	Watch
	Missing bool // the node did not exist when the watch was set
}

// Event is a watch event. Type and State are the protocol's numbers, which the library
// uses, too. Zxid is the transaction of the change, or -1 if the server does not send
// it. Servers before 3.9 never send it. Later servers send it, except for changes while
// the client was disconnected.
type Event struct {
	Type, State int32
	Path        string
	Zxid        int64
}

// setWatchesSize bounds the paths in one setWatches request, in bytes. It is far below
// the servers' default limit. A longer path gets a separate request.
const setWatchesSize = 128 << 10

// setWatchesHeader is the size of a setWatches request without its paths: xid,
// operation, zxid, and the lengths of its three lists.
const setWatchesHeader = 4 + 4 + 8 + 3*proto.LengthSize

// isRefusedSetWatches reports whether a reply means that watches were not set again.
// The reply's zxid does not count, because it is newer than the changes that the server
// has not reported.
func isRefusedSetWatches(op int32, r reply) bool {
	return op == proto.OpSetWatches && r.Code != proto.CodeOK
}

// SetWatches sets standard watches again that the server may have, or may have had. The
// server at once sends events for nodes that have changed since the given transaction,
// and sets watches on the other nodes. Without a connection, the calls are nil.
//
// The requests do not wait for room, so a later request that removes one of the watches
// is sent after them. The caller must ensure that the requests are few, and that the
// same paths have no persistent watches, which servers before 3.9 would replace.
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

// batchesOf divides watches among requests with at most limit bytes of paths.
func batchesOf(watches []SetWatch, limit int) (all []watchLists) {
	for _, w := range watches {
		if n := len(all); n == 0 || all[n-1].size+w.size() > limit {
			all = append(all, watchLists{})
		}
		all[len(all)-1].add(w)
	}
	return all
}

// watchLists sorts watches into the lists of setWatches. The list tells the server how
// to find out whether a watch has fired meanwhile.
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

// RemoveWatch removes a watch from the server. Without a connection there is nothing to
// do: the watches of a connection end with the connection, and only the watches from
// Config.Watches are set again. RemoveWatch does no I/O. A request that sets the same
// watch again must be sent afterwards.
func (l *Link) RemoveWatch(w Watch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.conn
	if c == nil || !c.established {
		return
	}
	// The answer does not matter: if the server no longer has the watch, the watch has
	// fired.
	payload := func(b []byte) []byte {
		return jute.AppendInt32(jute.AppendString(b, w.Path), int32(w.Table))
	}
	if c.waitingWatches > 0 { // the watch may be among the waiting ones
		c.enqueueWaiterLocked(&Call{Op: proto.OpRemoveWatches, Payload: payload})
		return
	}
	c.enqueueLocked(proto.OpRemoveWatches, payload, nil)
	c.signal()
}

// PersistentWatch is a watch that stays after it has fired. It gets an event for every
// change of its node and for every creation and deletion of a child. A recursive watch
// gets an event for every change of its node and of every node below.
//
// A server before 3.9 has one watch for a path: a new watch replaces a standard or
// persistent watch on the same path (ZOOKEEPER-4466). So persistent watches are set
// after the standard ones, and the owner of the link sets no standard watch on the path
// of a persistent one.
type PersistentWatch struct {
	Path      string
	Recursive bool

	// Then is called like Call.Then: when the server has answered or can no longer
	// answer.
	Then func(code int32, err error)
}

// These are modes of addWatch, as in AddWatchMode of ZooKeeper.
const (
	modePersistent int32 = 0
	modeRecursive  int32 = 1
)

// anyTable is ZooKeeper's WatcherType for all watches of a path. In servers before 3.9,
// only this type removes a persistent watch completely.
const anyTable Table = 3

// AddWatch sets a persistent watch. Without a connection there is nothing to do, and
// Then is not called: each new connection sets the watches of Config.Watches. AddWatch
// does no I/O. If too much is already under way, the request waits for room, but
// AddWatch does not wait.
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

// RemoveWatches removes every watch on a path from the server. Otherwise it is like
// RemoveWatch.
func (l *Link) RemoveWatches(path string) { l.RemoveWatch(Watch{path, anyTable}) }
