package cache

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/gocurator/curator/recipes/internal/follow"
)

// ChangeType says what a Change is about.
type ChangeType int

// Created, Changed and Deleted are about a node. A node that was deleted and
// re-created is Deleted and then Created. The others are about the cache:
//
//   - Synced means that it is up to date: what was told before is all there is,
//     as of the change's Zxid.
//   - Interrupted means that the connection or the watch is gone, or was, and that
//     the cache may be behind until the next Synced.
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

// Change is a step of the cache, or a part of one: changes in a row with the
// same Zxid belong together.
type Change struct {
	Type ChangeType
	Old  Node  // for Changed and Deleted: what this reader was told before
	New  Node  // for Created and Changed
	Zxid int64 // the transaction as of which the cache is now
}

// Step is what a cache has become by one step, and what has changed by it.
type Step struct {
	// Changes are the nodes that were Deleted, Created or Changed, in this
	// order: a reader that applies them to what it has is as far as the cache.
	Changes []Change

	Zxid   int64 // the transaction as of which the cache is now
	Synced bool  // the cache is up to date; false if it was Interrupted

	// Unreadable is what Cache.Unreadable returns as of this step.
	Unreadable map[string]error
}

// feed is what one reader of Steps has not been told yet. Cache.mu protects the
// fields.
type feed struct {
	pending map[string]*Node // what the reader knows of a node that has changed; nil for nothing; take removes all
	steps   int              // the cache's, when the reader was told last
	synced  bool             // what the reader was told last
}

// Changes returns what is in the cache, as Created and then Synced, and then
// every change, until ctx ends or the cache does. It waits for the first Synced
// before it begins. The end of the cache is the last element: an empty Change,
// and the error that Err returns.
//
// A slow reader holds up nobody and uses no more memory than the nodes that
// have changed. Several changes of a node, or of everything, become one: a
// reader may miss what a node was in between, but never what it is. If the
// reader applies every change to a map, then the map is the cache whenever the
// Zxid changes. Steps tells where that is.
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
				all = append(all, Change{Type: kindOf(synced), Zxid: step.Zxid})
			}
			for _, ch := range all {
				if ctx.Err() != nil || !yield(ch, nil) {
					return
				}
			}
		}
	}
}

func kindOf(synced bool) ChangeType {
	if synced {
		return Synced
	}
	return Interrupted
}

// Steps is Changes for those who want to see one state of the cache after the
// other: each element has all changes of a step, or of several steps if the
// reader is slow. There are steps without changes, by which the cache is as of
// another transaction, or is interrupted, or synced again. The end of the cache
// is an empty Step, and the error that Err returns.
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

// take returns what has changed for a reader, and whether anything has.
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

// changesLocked returns the nodes that have changed for a reader.
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
