package datatree

import "errors"

// Verify returns an error if the tree contradicts itself. It is for tests.
func (t *Tree) Verify() error {
	children, reapable, ephemerals := 0, 0, 0
	for path, n := range t.nodes {
		children += len(n.Children)
		if _, known := t.nodes[ParentOf(path)].Children[baseOf(path)]; !known && path != "/" {
			return errors.New(path + " is unknown to its parent")
		}
		if n.Kind == Container || n.Kind == TTLNode {
			reapable++
		}
		if n.Kind == Ephemeral {
			ephemerals++
		}
	}
	for _, paths := range t.ephemerals {
		ephemerals -= len(paths)
	}
	if children != len(t.nodes)-1 || reapable != len(t.reapable) || ephemerals != 0 {
		return errors.New("the tree counts wrong")
	}
	return nil
}

// Verify returns an error if the two tables contradict each other. It is for
// tests.
func (w *Watches[C]) Verify() error {
	total, recursive := 0, 0
	for _, modes := range w.byKey {
		total += len(modes)
		for _, mode := range modes {
			if mode&WatchRecursive != 0 {
				recursive++
			}
		}
	}
	if total != w.Len() || recursive != w.recursive {
		return errors.New("the watches are counted wrong")
	}
	return nil
}
