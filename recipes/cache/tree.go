package cache

import (
	"strings"

	"github.com/gocurator/curator/internal/znode"
)

// tree is what the loop has read so far. Only the loop uses it. A step copies the tree
// into the cache.
type tree struct {
	c          *Cache
	nodes      map[string]*entry   // remove removes a deleted or unreadable node
	unreadable map[string]error    // put and remove remove a node
	touched    map[string]struct{} // paths that have changed since the last step; publish empties it
}

// entry is a node, with what the loop knows of its children.
type entry struct {
	node   *Node
	names  map[string]struct{} // the children's names when they were last listed
	listed int64               // the Pzxid of that list, or -1
}

func newTree(c *Cache) tree {
	return tree{
		c: c, nodes: map[string]*entry{}, unreadable: map[string]error{}, touched: map[string]struct{}{},
	}
}

// put stores a node that was read.
func (t *tree) put(n *Node) *entry {
	delete(t.unreadable, n.Path)
	t.touched[n.Path] = struct{}{}
	e := t.nodes[n.Path]
	if e == nil || e.node.Stat.Czxid != n.Stat.Czxid {
		e = &entry{listed: -1}
		t.nodes[n.Path] = e
	}
	e.node = n
	return e
}

// remove notes that a node does not exist. A node that was created and deleted since
// the last step is no change. Reading the cache's maps needs no lock here, because
// only the loop changes them.
func (t *tree) remove(path string) {
	delete(t.unreadable, path)
	delete(t.nodes, path)
	if t.c.nodes[path] == nil && t.c.unreadable[path] == nil {
		delete(t.touched, path)
	} else {
		t.touched[path] = struct{}{}
	}
}

// refuse notes that a node cannot be read. The same error as before is no change.
func (t *tree) refuse(path string, err error) {
	if was := t.unreadable[path]; was != nil && was.Error() == err.Error() {
		return
	}
	t.remove(path)
	t.unreadable[path] = err
	t.touched[path] = struct{}{}
}

func (t *tree) node(path string) *Node {
	if e := t.nodes[path]; e != nil {
		return e.node
	}
	return nil
}

// knows reports whether the tree has a node, readable or not.
func (t *tree) knows(path string) bool {
	return t.nodes[path] != nil || t.unreadable[path] != nil
}

// scope says which nodes belong to a cache.
type scope struct {
	root   string
	depth  int
	filter func(path string) bool // never nil
}

// depthOf returns how many levels a path is below the root, or false if the path is not
// below the root.
func (s scope) depthOf(path string) (int, bool) {
	if path == s.root {
		return 0, true
	}
	rest, below := strings.CutPrefix(path, strings.TrimSuffix(s.root, "/")+"/")
	if !below || rest == "" {
		return 0, false
	}
	return strings.Count(rest, "/") + 1, true
}

// has reports whether a path belongs to the cache: the path is not too deep, and the
// filter keeps it and all its parents up to the root.
func (s scope) has(path string) bool {
	depth, ok := s.depthOf(path)
	if !ok || depth > s.depth {
		return false
	}
	for path != s.root {
		if !s.filter(path) {
			return false
		}
		path, _ = znode.Split(path)
	}
	return true
}

// hasChildren reports whether the children of a path may belong to the cache.
func (s scope) hasChildren(path string) bool {
	depth, ok := s.depthOf(path)
	return ok && depth < s.depth
}

func (e *entry) copy() (known known) {
	known.listed = -1
	if e != nil {
		known.node, known.listed = e.node, e.listed
	}
	return known
}
