package cache

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// ChangeType says what a Change is about.
type ChangeType int

// Created, Changed and Deleted are about a node. A node that was deleted and
// re-created is Deleted and then Created. The other types are about the cache:
//
//   - Synced means that the cache is up to date: the changes so far are the whole
//     tree, as of the change's Zxid.
//   - Interrupted means that the connection or the watch was lost, and that the cache
//     may be behind until the next Synced.
const (
	Created ChangeType = iota + 1
	Changed
	Deleted
	Synced
	Interrupted
)

// String returns the name of the type, in lower case.
func (t ChangeType) String() string {
	switch t {
	case Created:
		return "created"
	case Changed:
		return "changed"
	case Deleted:
		return "deleted"
	case Synced:
		return "synced"
	case Interrupted:
		return "interrupted"
	default:
		return "none"
	}
}

// Change is a step of the cache, or a part of a step: consecutive changes with the
// same Zxid belong together.
type Change struct {
	Type ChangeType
	Old  Node  // for Changed and Deleted: the node as this reader last received it
	New  Node  // for Created and Changed
	Zxid int64 // the transaction as of which the cache is now
}

// Step describes one step of a cache: what has changed, and the state after it.
type Step struct {
	// Changes has the nodes that were Deleted, Created or Changed. A reader that
	// applies them in this order has the tree that the cache has.
	Changes []Change

	Zxid   int64 // the transaction as of which the cache is now
	Synced bool  // the cache is up to date; false after an interruption

	// Unreadable is what Cache.Unreadable returns as of this step.
	Unreadable map[string]error
}

// feed has what one reader of Steps has not received yet. Cache.mu protects the
// fields.
type feed struct {
	pending map[string]*Node // changed nodes as the reader knows them, or nil; take removes all
	steps   int              // Cache.steps when the reader last received a step
	synced  bool             // Cache.synced at that time
}

// Changes returns the whole cache, as Created changes and one Synced, and then every
// later change, until ctx or the cache ends. It waits until the cache is filled. If
// the cache ends, the last element is an empty Change with the error of Err.
//
// A slow reader holds up neither the cache nor other readers, and the memory it costs
// is bounded by the number of changed nodes. Several changes of a node become one: the
// reader may miss a state in between, but never the latest state. If the reader
// applies every change to a map, then the map equals the cache whenever the Zxid is
// about to change. Use Steps to see these boundaries.
func (c *Cache) Changes(ctx context.Context) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		synced := false
		for step, err := range c.Steps(ctx) {
			if err != nil {
				yield(Change{}, err)
				return
			}
			all := step.Changes
			if step.Synced != synced {
				synced = step.Synced
				now := Change{Type: Interrupted, Zxid: step.Zxid}
				if synced {
					now.Type = Synced
				}
				all = append(all, now)
			}
			for _, ch := range all {
				if ctx.Err() != nil || !yield(ch, nil) {
					return
				}
			}
		}
	}
}

// Steps returns the states of the cache in turn: each element has all changes of one
// step, or of several steps if the reader is slow. A step without changes brings a new
// Zxid, an interruption, or the end of an interruption. If the cache ends, the last
// element is an empty Step with the error of Err.
func (c *Cache) Steps(ctx context.Context) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		f := c.subscribe()
		defer c.unsubscribe(f)
		next := func() (Step, bool) { return c.take(f) }
		follow.Changes(ctx, &c.life, next, c.named)(yield)
	}
}

func (c *Cache) subscribe() *feed {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &feed{pending: make(map[string]*Node, len(c.nodes))}
	for path := range c.nodes {
		f.pending[path] = nil
	}
	c.feeds[f] = struct{}{}
	return f
}

func (c *Cache) unsubscribe(f *feed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.feeds, f)
}

// take returns what has changed since a reader's last step, and whether anything has.
func (c *Cache) take(f *feed) (step Step, news bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.steps == c.steps && f.synced == c.synced {
		return Step{}, false
	}
	f.steps, f.synced = c.steps, c.synced
	step = Step{Zxid: c.zxid, Synced: c.synced, Changes: c.changesLocked(f)}
	if len(c.unreadable) > 0 {
		step.Unreadable = maps.Clone(c.unreadable)
	}
	return step, true
}

// changesLocked returns the nodes that have changed since a reader's last step.
func (c *Cache) changesLocked(f *feed) (all []Change) {
	paths := slices.Sorted(maps.Keys(f.pending))
	for _, path := range slices.Backward(paths) { // children first
		old, now := f.pending[path], c.nodes[path]
		if old != nil && (now == nil || now.Stat.Czxid != old.Stat.Czxid) {
			all = append(all, Change{Type: Deleted, Old: *old, Zxid: c.zxid})
			f.pending[path] = nil
		}
	}
	for _, path := range paths { // parents first
		old, now := f.pending[path], c.nodes[path]
		switch {
		case now == nil:
		case old == nil:
			all = append(all, Change{Type: Created, New: *now, Zxid: c.zxid})
		case !same(old, now):
			all = append(all, Change{Type: Changed, Old: *old, New: *now, Zxid: c.zxid})
		}
	}
	f.pending = cleared(f.pending)
	return all
}

// publish copies the loop's tree into the cache, as of a transaction. synced means
// that the client is connected and no event is unread.
func (c *Cache) publish(t *tree, zxid int64, synced bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path := range t.touched {
		if err := t.unreadable[path]; err != nil {
			c.unreadable[path] = err
		} else {
			delete(c.unreadable, path)
		}
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

func (c *Cache) setLocked(path string, n *Node) {
	parent, name := znode.Split(path)
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

func (e *entry) copy() (known known) {
	known.listed = -1
	if e != nil {
		known.node, known.listed = e.node, e.listed
	}
	return known
}
