package zktest

import (
	"cmp"
	"time"
)

// Node is a node as it is now.
type Node struct {
	Path string
	Data []byte
	Stat Stat
	ACL  []ACL
}

// Stat is what a client sees of a node besides its data.
type Stat struct {
	Czxid, Mzxid                int64 // transactions that created the node and last changed its data
	Ctime, Mtime                int64 // the same two, in milliseconds since 1970
	Version, Cversion, Aversion int32 // how often the data, the children and the ACL were changed
	EphemeralOwner              int64 // session of an ephemeral node, else 0
	DataLength, NumChildren     int32
	Pzxid                       int64 // transaction that last created or deleted a child
}

// ACL grants permissions to a client, or a group of them.
type ACL struct {
	Perms      int32
	Scheme, ID string
}

// Watch is a watch as it is now. A persistent watch, in ZooKeeper's sense, is
// in both tables and thus counts as two.
type Watch struct {
	Session int64
	Path    string
	// Child is true for a watch on the node's children, which getChildren
	// leaves, and false for one on the node itself, which getData and exists
	// leave.
	Child      bool
	Persistent bool // stays after an event
	Recursive  bool // stays, and covers everything below
}

// table names the table that the watch is in.
func (w Watch) table() string {
	if w.Child {
		return "child"
	}
	return "data"
}

// SessionInfo is a session as it is now.
type SessionInfo struct {
	ID         int64
	Timeout    time.Duration // the negotiated timeout
	Deadline   time.Time     // it expires then unless the client is heard of
	Connected  bool          // the server sees a connection, which may be a black hole
	Ephemerals []string      // paths, sorted
	WatchCount int           // watches at the server that was asked
}

// compareWatches is the order in which watches are listed.
func compareWatches(a, b Watch) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), compareBool(a.Child, b.Child), cmp.Compare(a.Session, b.Session))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
