package zktest

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
)

// Stat is what a client sees of a node besides its data.
type Stat struct {
	Czxid, Mzxid                int64 // transactions that created the node and last changed its data
	Ctime, Mtime                int64 // the same two, in milliseconds since 1970
	Version, Cversion, Aversion int32 // changes of data, of children, of the ACL
	EphemeralOwner              int64 // session of an ephemeral node, else 0
	DataLength, NumChildren     int32
	Pzxid                       int64 // transaction that last created or deleted a child
}

type nodeKind uint8

const (
	persistent nodeKind = iota
	ephemeral
	container
	withTTL
)

// node is one znode. Its children are known by name only; the nodes themselves
// are in tree.nodes.
type node struct {
	data     []byte
	acl      []ACL
	children map[string]struct{} // nil until the first child
	kind     nodeKind
	owner    int64 // session of an ephemeral node
	ttl      int64 // milliseconds, for withTTL

	czxid, mzxid, pzxid int64
	ctime, mtime        int64
	version, aversion   int32

	// created counts the children ever created, and is the suffix of the next
	// sequential child. It is never lowered: see add for what that means at 2^31-1.
	created int32
}

// stat derives what clients see. ZooKeeper stores only the number of creations
// and shows creations plus deletions, which this arithmetic yields.
func (n *node) stat() Stat {
	return Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: n.pzxid,
		Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Aversion: n.aversion,
		Cversion:       2*n.created - int32(len(n.children)),
		EphemeralOwner: n.owner,
		DataLength:     int32(len(n.data)),
		NumChildren:    int32(len(n.children)),
	}
}

// tree is the data: every node by its path. It knows nothing of clocks, sessions,
// watches or the wire; its methods expect arguments that were checked before.
type tree struct {
	nodes      map[string]*node
	ephemerals map[int64]map[string]struct{} // paths by session
	reapable   map[string]struct{}           // paths of containers and of nodes with a TTL
	quotas     map[string]struct{}           // paths with limits; see quota.go

	noting  bool     // the tree of a member of an ensemble: others want to repeat the changes
	effects []effect // what was done since somebody last took them
}

// newTree returns the tree a fresh server starts with.
func newTree() *tree {
	t := &tree{
		nodes:      map[string]*node{"/": {data: []byte{}}},
		ephemerals: make(map[int64]map[string]struct{}),
		reapable:   make(map[string]struct{}),
		quotas:     make(map[string]struct{}),
	}
	t.attach("/zookeeper", &node{data: []byte{}})
	t.attach("/zookeeper/quota", &node{data: []byte{}})
	t.attach("/zookeeper/config", &node{data: []byte{}, acl: readOnlyACL, aversion: -1})
	return t
}

// node returns the node at path, or nil. The root has two paths: "/" and "".
func (t *tree) node(path string) *node { return t.nodes[cmp.Or(path, "/")] }

// attach puts a node in its place without touching the parent's stat.
func (t *tree) attach(path string, n *node) {
	t.nodes[path] = n
	parent := t.nodes[parentOf(path)]
	if parent.children == nil {
		parent.children = make(map[string]struct{})
	}
	parent.children[baseOf(path)] = struct{}{}
	switch n.kind {
	case ephemeral:
		if t.ephemerals[n.owner] == nil {
			t.ephemerals[n.owner] = make(map[string]struct{})
		}
		t.ephemerals[n.owner][path] = struct{}{}
	case container, withTTL:
		t.reapable[path] = struct{}{}
	}
	if subject, name := quotaNode(path); name == quotaLimit {
		t.quotas[subject] = struct{}{}
	}
}

// detach is the opposite of attach.
func (t *tree) detach(path string, n *node) {
	delete(t.nodes, path)
	delete(t.nodes[parentOf(path)].children, baseOf(path))
	switch n.kind {
	case ephemeral:
		delete(t.ephemerals[n.owner], path)
		if len(t.ephemerals[n.owner]) == 0 {
			delete(t.ephemerals, n.owner)
		}
	case container, withTTL:
		delete(t.reapable, path)
	}
	if subject, name := quotaNode(path); name == quotaLimit {
		delete(t.quotas, subject)
	}
}

// add creates a node below an existing parent and returns how to undo it. next is
// the suffix of the parent's next sequential child, as the transaction has computed
// it. Like a real server the tree takes only a higher one than before: after 2^31-1
// comes -2^31, and from then on neither the count nor the pzxid of the parent tells
// of new children.
func (t *tree) add(path string, n *node, next int32, zxid, now int64) (undo func()) {
	parent := t.nodes[parentOf(path)]
	created, pzxid := parent.created, parent.pzxid
	n.czxid, n.mzxid, n.pzxid = zxid, zxid, zxid
	n.ctime, n.mtime = now, now
	t.attach(path, n)
	if next > parent.created {
		parent.created, parent.pzxid = next, zxid
	}
	if t.noting {
		t.note(repeatAdd(path, *n, next))
	}
	uncount := t.account(path, len(n.data), 1)
	return func() {
		uncount()
		t.detach(path, n)
		parent.created, parent.pzxid = created, pzxid
	}
}

// repeatAdd is add once more, in another tree. n is the node as it was when new.
func repeatAdd(path string, n node, next int32) effect {
	return func(t *tree) {
		twin := n
		t.add(path, &twin, next, n.czxid, n.ctime)
	}
}

// remove deletes a node without children and returns how to undo it.
func (t *tree) remove(path string, zxid int64) (undo func()) {
	n, parent := t.nodes[path], t.nodes[parentOf(path)]
	pzxid := parent.pzxid
	t.detach(path, n)
	parent.pzxid = zxid
	if t.noting {
		t.note(func(t *tree) { t.remove(path, zxid) })
	}
	uncount := t.account(path, -len(n.data), -1)
	return func() {
		uncount()
		t.attach(path, n)
		parent.pzxid = pzxid
	}
}

// setData replaces a node's data with a copy of data and returns how to undo it.
func (t *tree) setData(path string, data []byte, zxid, now int64) (undo func()) {
	n := t.nodes[path]
	old := *n
	own := bytes.Clone(data)
	n.data, n.mzxid, n.mtime = own, zxid, now
	n.version++
	if t.noting {
		t.note(func(t *tree) { t.setData(path, own, zxid, now) })
	}
	uncount := t.account(path, len(n.data)-len(old.data), 0)
	return func() {
		uncount()
		n.data, n.mzxid, n.mtime, n.version = old.data, old.mzxid, old.mtime, old.version
	}
}

// setACL replaces a node's ACL. It is not possible inside a multi, so nothing
// ever undoes it.
func (t *tree) setACL(path string, acl []ACL) {
	n := t.nodes[path]
	n.acl = acl
	n.aversion++
	if t.noting {
		t.note(func(t *tree) { t.setACL(path, acl) })
	}
}

// setCreated sets the suffix of the next sequential child.
func (t *tree) setCreated(path string, next int32) {
	t.nodes[path].created = next
	if t.noting {
		t.note(func(t *tree) { t.setCreated(path, next) })
	}
}

// ephemeralsOf returns the paths a session owns, sorted.
func (t *tree) ephemeralsOf(session int64) []string {
	return slices.Sorted(maps.Keys(t.ephemerals[session]))
}

// names returns the names of the children in no order.
func (n *node) names() []string {
	return slices.AppendSeq(make([]string, 0, len(n.children)), maps.Keys(n.children))
}

// walk calls visit for path and everything below it, parents before children
// and children by name.
func (t *tree) walk(path string, visit func(path string, n *node)) {
	n := t.nodes[path]
	if n == nil {
		return
	}
	visit(path, n)
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		t.walk(childOf(path, name), visit)
	}
}

// countBelow returns how many nodes walk would visit after the first, in no order
// and therefore faster.
func (t *tree) countBelow(path string) int {
	n := t.nodes[path]
	total := len(n.children)
	for name := range n.children {
		total += t.countBelow(childOf(path, name))
	}
	return total
}

// outdated returns the containers that have lost their last child, and the nodes
// whose TTL has passed since the last change of their data, sorted. A container
// that never had a child is kept: its creator is about to use it.
func (t *tree) outdated(now int64) []string {
	var paths []string
	for path := range t.reapable {
		n := t.nodes[path]
		if len(n.children) > 0 {
			continue
		}
		if n.kind == container && n.created > 0 || n.kind == withTTL && now-n.mtime > n.ttl {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
