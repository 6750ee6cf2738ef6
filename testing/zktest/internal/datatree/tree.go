package datatree

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Tree has every node by its path. It does not know clocks, sessions, watches and the wire
// format. Its methods do not check their arguments.
type Tree struct {
	nodes      map[string]*Node
	ephemerals map[int64]map[string]struct{} // paths by session
	reapable   map[string]struct{}           // paths of containers and of nodes with a TTL

	// Recording makes the tree keep an [Effect] of each change, until TakeEffects. It is
	// true for the trees of an ensemble's members.
	Recording bool
	effects   []Effect

	// SASL allows the scheme sasl in access control lists.
	SASL bool

	// DeletesKeepPzxid makes a deletion leave the Pzxid of the parent unchanged.
	DeletesKeepPzxid bool
}

// New returns the tree of a new server.
func New() *Tree {
	t := &Tree{
		nodes:      map[string]*Node{"/": {Data: []byte{}}},
		ephemerals: make(map[int64]map[string]struct{}),
		reapable:   make(map[string]struct{}),
	}
	t.attach("/zookeeper", &Node{Data: []byte{}})
	t.attach("/zookeeper/quota", &Node{Data: []byte{}})
	t.attach("/zookeeper/config", &Node{Data: []byte{}, ACL: readOnlyACL, Aversion: -1})
	return t
}

// Node returns the node at path, or nil. The root has two paths: "/" and "".
// Only the tree may change the node.
func (t *Tree) Node(path string) *Node { return t.nodes[cmp.Or(path, "/")] }

// Len returns the number of nodes, including the root and ZooKeeper's own nodes.
func (t *Tree) Len() int { return len(t.nodes) }

// Reapable reports whether the tree has a container or a node with a TTL.
func (t *Tree) Reapable() bool { return len(t.reapable) > 0 }

// attach adds a node to the tree and to its parent, and does not change the parent's Stat.
func (t *Tree) attach(path string, n *Node) {
	t.nodes[path] = n
	parent := t.nodes[ParentOf(path)]
	if parent.Children == nil {
		parent.Children = make(map[string]struct{})
	}
	parent.Children[baseOf(path)] = struct{}{}
	switch n.Kind {
	case Ephemeral:
		if t.ephemerals[n.Owner] == nil {
			t.ephemerals[n.Owner] = make(map[string]struct{})
		}
		t.ephemerals[n.Owner][path] = struct{}{}
	case Container, TTLNode:
		t.reapable[path] = struct{}{}
	}
}

// detach undoes attach.
func (t *Tree) detach(path string, n *Node) {
	delete(t.nodes, path)
	delete(t.nodes[ParentOf(path)].Children, baseOf(path))
	switch n.Kind {
	case Ephemeral:
		delete(t.ephemerals[n.Owner], path)
		if len(t.ephemerals[n.Owner]) == 0 {
			delete(t.ephemerals, n.Owner)
		}
	case Container, TTLNode:
		delete(t.reapable, path)
	}
}

// add creates a node below an existing parent, and returns a function that undoes that. The
// argument next is the suffix of the parent's next sequential child, which the transaction
// has computed. As in a real server, the parent's Created never decreases. The suffix after
// 2^31-1 is -2^31, so from then on new children change neither Created nor the Pzxid of the
// parent.
func (t *Tree) add(path string, n *Node, next int32, zxid, now int64) (undo func()) {
	parent := t.nodes[ParentOf(path)]
	created, pzxid := parent.Created, parent.Pzxid
	n.Czxid, n.Mzxid, n.Pzxid = zxid, zxid, zxid
	n.Ctime, n.Mtime = now, now
	t.attach(path, n)
	if next > parent.Created {
		parent.Created, parent.Pzxid = next, zxid
	}
	if t.Recording {
		t.record(repeatAdd(path, *n, next))
	}
	return func() {
		t.detach(path, n)
		parent.Created, parent.Pzxid = created, pzxid
	}
}

// repeatAdd returns the effect of add for other trees. The argument n is a copy of the node
// from before the add.
func repeatAdd(path string, n Node, next int32) Effect {
	return func(t *Tree) {
		twin := n
		t.add(path, &twin, next, n.Czxid, n.Ctime)
	}
}

// remove deletes a node without children, and returns a function that undoes that.
func (t *Tree) remove(path string, zxid int64) (undo func()) {
	n, parent := t.nodes[path], t.nodes[ParentOf(path)]
	pzxid := parent.Pzxid
	t.detach(path, n)
	if !t.DeletesKeepPzxid {
		parent.Pzxid = zxid
	}
	if t.Recording {
		t.record(func(t *Tree) { t.remove(path, zxid) })
	}
	return func() {
		t.attach(path, n)
		parent.Pzxid = pzxid
	}
}

// setData replaces a node's data with a copy of the argument, and returns a function that
// undoes that.
func (t *Tree) setData(path string, data []byte, zxid, now int64) (undo func()) {
	n := t.nodes[path]
	old := *n
	own := bytes.Clone(data)
	n.Data, n.Mzxid, n.Mtime = own, zxid, now
	n.Version++
	if t.Recording {
		t.record(func(t *Tree) { t.setData(path, own, zxid, now) })
	}
	return func() {
		n.Data, n.Mzxid, n.Mtime, n.Version = old.Data, old.Mzxid, old.Mtime, old.Version
	}
}

// setACL replaces a node's ACL. A multi cannot contain a setACL, so there is no undo.
func (t *Tree) setACL(path string, acl []wire.ACL) {
	n := t.nodes[path]
	n.ACL = acl
	n.Aversion++
	if t.Recording {
		t.record(func(t *Tree) { t.setACL(path, acl) })
	}
}

// setNextSequence sets the suffix of the next sequential child.
func (t *Tree) setNextSequence(path string, next int32) {
	t.nodes[path].Created = next
	if t.Recording {
		t.record(func(t *Tree) { t.setNextSequence(path, next) })
	}
}

// EphemeralsOf returns the sorted paths of a session's ephemeral nodes.
func (t *Tree) EphemeralsOf(session int64) []string {
	return slices.Sorted(maps.Keys(t.ephemerals[session]))
}

// Walk calls visit for a node and everything below it: parents before children, and children
// in the order of their names.
func (t *Tree) Walk(path string, visit func(path string, n *Node)) {
	n := t.nodes[path]
	if n == nil {
		return
	}
	visit(path, n)
	for _, name := range slices.Sorted(maps.Keys(n.Children)) {
		t.Walk(ChildOf(path, name), visit)
	}
}

// Outdated returns the sorted paths of containers that have lost their last child, and of
// nodes whose TTL has passed since the last change of their data. It leaves out a container
// that never had a child, because its creator is about to use it.
func (t *Tree) Outdated(now int64) []string {
	var paths []string
	for path := range t.reapable {
		n := t.nodes[path]
		if len(n.Children) > 0 {
			continue
		}
		if n.Kind == Container && n.Created > 0 || n.Kind == TTLNode && now-n.Mtime > n.TTL {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
