package zktest

// Watch is a watch as it is now. A persistent watch, in ZooKeeper's sense, is
// in both tables and thus counts as two.
type Watch struct {
	Session int64
	Path    string
	// Child says which of the server's two tables the watch is in: the one for
	// the node's children, with watches of getChildren; or else the one for the
	// node itself, with those of getData, and of exists whether the node is
	// there or not.
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
