package datatree

import (
	"iter"
	"maps"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// WatchKind is the table of a watch.
type WatchKind int

const (
	// WatchData is the table for nodes themselves: watches of getData, and of exists for
	// existing and missing nodes.
	WatchData WatchKind = iota
	// WatchChild is the table for children: watches of getChildren.
	WatchChild
)

// WatchMode is a set of modes, because one connection may have a standard and a persistent
// watch on the same path.
type WatchMode uint8

// These are the modes of watches.
const (
	WatchOnce       WatchMode = 1 << iota // the watch ends with its first event
	WatchPersistent                       // the watch stays
	WatchRecursive                        // the watch stays, and covers everything below; in the data table only

	WatchAnyMode = WatchOnce | WatchPersistent | WatchRecursive
)

// WatchKey identifies the node and the table of a watch.
type WatchKey struct {
	Kind WatchKind
	Path string
}

// DataWatch is the key of a watch of the node itself.
func DataWatch(path string) WatchKey { return WatchKey{WatchData, path} }

// ChildWatch is the key of a watch of the node's children.
func ChildWatch(path string) WatchKey { return WatchKey{WatchChild, path} }

// Watches has the watches of all connections. The type C is a connection. A watch belongs to
// a connection, not to a session: it ends with the connection, and the client sets it again.
type Watches[C comparable] struct {
	byKey     map[WatchKey]map[C]WatchMode // like byConn, nil until there is a watch
	byConn    map[C]map[WatchKey]struct{}
	recursive int  // the number of recursive watches; usually 0, which saves a walk to the root
	exclusive bool // a connection has one mode for each key, as before ZooKeeper 3.9
}

// NewWatches returns empty tables. If exclusive is true, a connection has one mode for each
// key, as before ZooKeeper 3.9.
func NewWatches[C comparable](exclusive bool) *Watches[C] {
	return &Watches[C]{exclusive: exclusive}
}

// Add registers a watch. Watches of the connection in other modes stay, unless watches are
// exclusive.
func (w *Watches[C]) Add(c C, key WatchKey, mode WatchMode) {
	if w.byKey == nil {
		w.byKey, w.byConn = make(map[WatchKey]map[C]WatchMode), make(map[C]map[WatchKey]struct{})
	}
	if w.byKey[key] == nil {
		w.byKey[key] = make(map[C]WatchMode)
	}
	if w.byConn[c] == nil {
		w.byConn[c] = make(map[WatchKey]struct{})
	}
	had := w.byKey[key][c]
	is := had | mode
	if w.exclusive {
		is = mode
	}
	w.recursive += int(is&WatchRecursive)/int(WatchRecursive) - int(had&WatchRecursive)/int(WatchRecursive)
	w.byKey[key][c] = is
	w.byConn[c][key] = struct{}{}
}

// Has reports whether the connection has a watch in one of the modes.
func (w *Watches[C]) Has(c C, key WatchKey, modes WatchMode) bool { return w.byKey[key][c]&modes != 0 }

// Remove removes the watches in these modes, and reports whether there were any.
func (w *Watches[C]) Remove(c C, key WatchKey, modes WatchMode) bool {
	had := w.byKey[key][c]
	if had&modes == 0 {
		return false
	}
	if had&modes&WatchRecursive != 0 {
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

// RemoveAll removes all watches of a connection.
func (w *Watches[C]) RemoveAll(c C) {
	for key := range w.byConn[c] {
		w.Remove(c, key, WatchAnyMode)
	}
}

// Len returns the number of watches.
func (w *Watches[C]) Len() (n int) {
	for _, keys := range w.byConn {
		n += len(keys)
	}
	return n
}

// CountOf returns how many watches a connection has.
func (w *Watches[C]) CountOf(c C) int { return len(w.byConn[c]) }

// All returns every watch once for each connection, in no order.
func (w *Watches[C]) All() iter.Seq2[WatchKey, Watcher[C]] {
	return func(yield func(WatchKey, Watcher[C]) bool) {
		for key, modes := range w.byKey {
			for c, mode := range modes {
				if !yield(key, Watcher[C]{c, mode}) {
					return
				}
			}
		}
	}
}

// Watcher is a watch of a connection, with its modes.
type Watcher[C comparable] struct {
	Conn C
	Mode WatchMode
}

// Change is one visible effect of a transaction: a node was created, deleted,
// or its data changed.
type Change struct {
	Event wire.EventType
	Path  string
}

// Fire removes the one-shot watches of a change, and calls tell with the connections that get
// an event: first for the node, then for the parent's children.
func (w *Watches[C]) Fire(ch Change, tell func(map[C]struct{}, Change)) {
	told := w.collect(nil, WatchKey{WatchData, ch.Path})
	told = w.collectAbove(told, WatchData, ch.Path)
	if ch.Event == wire.EventDeleted {
		// A connection with watches on both the node and its children gets one event of
		// the deletion.
		told = w.collect(told, WatchKey{WatchChild, ch.Path})
		told = w.collectAbove(told, WatchChild, ch.Path) // before 3.9
	}
	if len(told) > 0 {
		tell(told, ch)
	}
	if ch.Event == wire.EventDataChanged {
		return
	}
	parent := ParentOf(ch.Path)
	told = w.collect(nil, WatchKey{WatchChild, parent})
	maps.DeleteFunc(told, func(c C, _ struct{}) bool {
		return w.byKey[WatchKey{WatchChild, parent}][c] == WatchRecursive // before 3.9
	})
	if len(told) > 0 {
		tell(told, Change{wire.EventChildrenChanged, parent})
	}
}

// collect adds the connections with a watch under a key to the set, and removes their
// one-shot watches.
func (w *Watches[C]) collect(set map[C]struct{}, key WatchKey) map[C]struct{} {
	for c := range w.byKey[key] {
		if set == nil {
			set = make(map[C]struct{})
		}
		set[c] = struct{}{}
		w.Remove(c, key, WatchOnce)
	}
	return set
}

// collectAbove adds the connections with a recursive watch of the kind on an
// ancestor of path.
func (w *Watches[C]) collectAbove(set map[C]struct{}, kind WatchKind, path string) map[C]struct{} {
	if w.recursive == 0 {
		return set
	}
	for path != "/" {
		path = ParentOf(path)
		for c, mode := range w.byKey[WatchKey{kind, path}] {
			if mode&WatchRecursive == 0 {
				continue
			}
			if set == nil {
				set = make(map[C]struct{})
			}
			set[c] = struct{}{}
		}
	}
	return set
}
