package zktest

// Watch is a watch as it is now. A persistent watch, in ZooKeeper's sense, is
// in both tables and thus counts as two.
type Watch struct {
	Session    int64
	Path       string
	Kind       WatchKind
	Persistent bool // stays after an event
	Recursive  bool // stays, and covers everything below
}

// WatchKind says which of the server's two tables a watch is in.
type WatchKind int

const (
	// WatchData is the table for the node itself: watches of getData and of
	// exists, whether the node is there or not.
	WatchData WatchKind = iota
	// WatchChild is the table for the node's children: watches of getChildren.
	WatchChild
)

// String returns "data" or "child".
func (k WatchKind) String() string {
	if k == WatchChild {
		return "child"
	}
	return "data"
}
