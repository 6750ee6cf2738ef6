package cache

import (
	"strings"
	"time"
)

// tree is what the loop has read so far. It becomes the cache's when it is
// complete. Only the loop uses it.
type tree struct {
	c          *Cache
	nodes      map[string]*entry
	unreadable map[string]error
	touched    map[string]struct{} // what has changed since the last publication, and is in the tree, or in the cache
}

// entry is a node, with what the loop knows of its children.
type entry struct {
	node   *Node
	names  map[string]struct{} // the children's, when they were last listed
	listed int64               // the Pzxid at that time; -1 if they were not
}

func newTree(c *Cache) tree {
	return tree{
		c: c, nodes: map[string]*entry{}, unreadable: map[string]error{}, touched: map[string]struct{}{},
	}
}

// put notes a node as it was read.
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

// remove notes that there is no such node. Nobody needs to be told of one that has
// come and gone since the last publication. No other goroutine changes what the cache
// has.
func (t *tree) remove(path string) {
	delete(t.unreadable, path)
	delete(t.nodes, path)
	if t.c.nodes[path] == nil && t.c.unreadable[path] == nil {
		delete(t.touched, path)
	} else {
		t.touched[path] = struct{}{}
	}
}

// refuse notes that a node cannot be read. That it still cannot is no change.
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

// knows reports whether there was such a node, readable or not.
func (t *tree) knows(path string) bool {
	return t.nodes[path] != nil || t.unreadable[path] != nil
}

// publish makes what was read what the cache has, as of a transaction. It is
// synced if the server is connected and has no more to tell.
func (c *Cache) publish(t *tree, zxid int64, synced bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path := range t.touched {
		c.setUnreadableLocked(path, t.unreadable[path])
		old, now := c.nodes[path], t.node(path)
		if old == nil && now == nil || old == now {
			continue
		}
		c.setLocked(path, now)
		for f := range c.feeds {
			if _, told := f.pending[path]; !told {
				f.pending[path] = old
			}
		}
	}
	t.touched = cleared(t.touched)
	if synced && !c.synced && c.filled {
		c.resyncs++
	}
	c.zxid, c.synced, c.filled = zxid, synced, true
	c.steps++
	c.known, c.waiting = len(t.nodes), 0
	c.life.Tell()
}

func (c *Cache) setUnreadableLocked(path string, err error) {
	if err == nil {
		delete(c.unreadable, path)
	} else {
		c.unreadable[path] = err
	}
}

func (c *Cache) setLocked(path string, n *Node) {
	parent := parentOf(path)
	name := strings.TrimPrefix(path[len(parent):], "/")
	if n == nil {
		delete(c.nodes, path)
		delete(c.children[parent], name)
		if len(c.children[parent]) == 0 {
			delete(c.children, parent)
		}
		return
	}
	c.nodes[path] = n
	if path == "/" {
		return
	}
	if c.children[parent] == nil {
		c.children[parent] = map[string]struct{}{}
	}
	c.children[parent][name] = struct{}{}
}

// interrupted notes that the cache may be behind.
func (c *Cache) interrupted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.synced {
		c.synced = false
		c.events.Emit(eventInterrupted, nil)
		c.life.Tell()
	}
}

// progress notes how far the reading is, and since when the cache is behind.
func (c *Cache) progress(known, waiting int, behindSince time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known, c.waiting, c.behindSince = known, waiting, behindSince
}

func (c *Cache) wasFilled() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.filled
}

func (c *Cache) isSynced() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.synced
}
