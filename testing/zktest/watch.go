package zktest

import "maps"

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

// watchMode is a set: one connection may have a standard and a persistent watch
// on the same path.
type watchMode uint8

const (
	watchOnce       watchMode = 1 << iota // gone after its first event
	watchPersistent                       // stays
	watchRecursive                        // stays, and covers everything below; in the data table only

	watchAnyMode = watchOnce | watchPersistent | watchRecursive
)

type watchKey struct {
	kind WatchKind
	path string
}

// watches holds the watches of all connections. A watch belongs to a connection,
// not to a session: it ends with the connection and the client sets it again.
type watches struct {
	byKey     map[watchKey]map[*conn]watchMode
	byConn    map[*conn]map[watchKey]struct{}
	recursive int  // how many recursive watches there are: usually none, which spares a walk
	exclusive bool // a connection has one mode for each key, as before 3.9
}

func newWatches(exclusive bool) *watches {
	return &watches{
		exclusive: exclusive,
		byKey:     make(map[watchKey]map[*conn]watchMode),
		byConn:    make(map[*conn]map[watchKey]struct{}),
	}
}

// add registers a watch. One that is there already stays as it is, or, before 3.9, goes.
func (w *watches) add(c *conn, key watchKey, mode watchMode) {
	if w.byKey[key] == nil {
		w.byKey[key] = make(map[*conn]watchMode)
	}
	if w.byConn[c] == nil {
		w.byConn[c] = make(map[watchKey]struct{})
	}
	had := w.byKey[key][c]
	is := had | mode
	if w.exclusive {
		is = mode
	}
	w.recursive += int(is&watchRecursive)/int(watchRecursive) - int(had&watchRecursive)/int(watchRecursive)
	w.byKey[key][c] = is
	w.byConn[c][key] = struct{}{}
}

// has reports whether there is a watch in one of the modes.
func (w *watches) has(c *conn, key watchKey, modes watchMode) bool {
	return w.byKey[key][c]&modes != 0
}

// remove takes the modes away and reports whether there was one of them.
func (w *watches) remove(c *conn, key watchKey, modes watchMode) bool {
	had := w.byKey[key][c]
	if had&modes == 0 {
		return false
	}
	if had&modes&watchRecursive != 0 {
		w.recursive--
	}
	if rest := had &^ modes; rest != 0 {
		w.byKey[key][c] = rest
		return true
	}
	delete(w.byKey[key], c)
	if len(w.byKey[key]) == 0 {
		delete(w.byKey, key)
	}
	delete(w.byConn[c], key)
	if len(w.byConn[c]) == 0 {
		delete(w.byConn, c)
	}
	return true
}

// removeConn forgets a connection.
func (w *watches) removeConn(c *conn) {
	for key := range w.byConn[c] {
		w.remove(c, key, watchAnyMode)
	}
}

// change is one visible effect of a transaction: eventCreated, eventDeleted or
// eventDataChanged of a node.
type change struct {
	event eventType
	path  string
}

// fire consumes the watches that a change concerns and calls tell with the
// connections to notify: first about the node, then about the parent's children.
func (w *watches) fire(ch change, tell func(connSet, change)) {
	told := w.collect(nil, watchKey{WatchData, ch.path})
	told = w.collectAbove(told, WatchData, ch.path)
	if ch.event == eventDeleted {
		// A connection that watches both the node and its children hears of the
		// deletion once.
		told = w.collect(told, watchKey{WatchChild, ch.path})
		told = w.collectAbove(told, WatchChild, ch.path) // before 3.9
	}
	if len(told) > 0 {
		tell(told, ch)
	}
	if ch.event == eventDataChanged {
		return
	}
	parent := parentOf(ch.path)
	told = w.collect(nil, watchKey{WatchChild, parent})
	maps.DeleteFunc(told, func(c *conn, _ struct{}) bool {
		return w.byKey[watchKey{WatchChild, parent}][c] == watchRecursive // before 3.9
	})
	if len(told) > 0 {
		tell(told, change{eventChildrenChanged, parent})
	}
}

type connSet map[*conn]struct{}

// collect adds the connections with a watch under key to set, and takes the
// watches that are good for one event only.
func (w *watches) collect(set connSet, key watchKey) connSet {
	for c := range w.byKey[key] {
		if set == nil {
			set = make(connSet)
		}
		set[c] = struct{}{}
		w.remove(c, key, watchOnce)
	}
	return set
}

// collectAbove adds the connections with a recursive watch on an ancestor of path.
func (w *watches) collectAbove(set connSet, kind WatchKind, path string) connSet {
	if w.recursive == 0 {
		return set
	}
	for path != "/" {
		path = parentOf(path)
		for c, mode := range w.byKey[watchKey{kind, path}] {
			if mode&watchRecursive == 0 {
				continue
			}
			if set == nil {
				set = make(connSet)
			}
			set[c] = struct{}{}
		}
	}
	return set
}
