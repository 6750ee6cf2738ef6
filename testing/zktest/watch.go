package zktest

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
