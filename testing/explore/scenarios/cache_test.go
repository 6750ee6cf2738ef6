package scenarios

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/explore"
	"github.com/gocurator/curator/testing/zktest"
)

// shown is a node, as a cache and a tree show it.
type shown struct {
	data         string
	czxid, mzxid int64
}

// snapshot is the tree below a path as of one transaction.
type snapshot struct {
	zxid  int64
	nodes map[string]shown
}

func snapshotOf(tree explore.Tree, root string) snapshot {
	s := snapshot{nodes: map[string]shown{}}
	for _, n := range append(below(tree, root), tree[root]) {
		s.nodes[n.Path] = shown{string(n.Data), n.Stat.Czxid, n.Stat.Mzxid}
		s.zxid = max(s.zxid, n.Stat.Mzxid, n.Stat.Pzxid) // the last one also knows of deletions
	}
	return s
}

// reader is a cache, and somebody who listens to it.
type reader struct {
	cache *cache.Cache
	zxid  int64            // of the cache, when it was seen last
	heard map[string]shown // what its changes lead to
}

func (r *reader) listen() {
	for c, err := range r.cache.Changes(context.Background()) {
		switch {
		case err != nil:
			return
		case c.Type == cache.Deleted:
			delete(r.heard, c.Old.Path)
		case c.Type == cache.Created || c.Type == cache.Changed:
			r.heard[c.New.Path] = shownBy(c.New)
		}
	}
}

func shownBy(n cache.Node) shown { return shown{string(n.Data), n.Stat.Czxid, n.Stat.Mzxid} }

// check compares the cache with the tree as of its transaction, after each move.
func (r *reader) check(history []snapshot) error {
	zxid := r.cache.Zxid()
	if zxid == 0 {
		return nil // it was not filled yet
	}
	if zxid < r.zxid {
		return fmt.Errorf("the cache is of transaction %#x after %#x", zxid, r.zxid)
	}
	r.zxid = zxid
	nodes := map[string]shown{}
	for n := range r.cache.All() {
		nodes[n.Path] = shownBy(n)
	}
	var want snapshot
	for _, s := range history {
		if s.zxid <= zxid {
			want = s
		}
	}
	if !maps.Equal(nodes, want.nodes) {
		return fmt.Errorf("the cache of transaction %#x has %v, and the tree had %v", zxid, nodes, want.nodes)
	}
	if !maps.Equal(nodes, r.heard) {
		return fmt.Errorf("the cache has %v, and its changes lead to %v", nodes, r.heard)
	}
	return nil
}

// cacheBesideAWriter has an actor with a cache, who writes and waits for it, and
// another one who changes the tree.
func cacheBesideAWriter(w *explore.World) {
	w.Node("/services", "")
	w.Node("/services/a", "0")
	w.Node("/services/a/x", "0")
	w.Node("/services/b", "0")
	var history []snapshot
	var all []*reader
	look := func(tree explore.Tree) error {
		if now := snapshotOf(tree, "/services"); len(history) == 0 || history[len(history)-1].zxid != now.zxid {
			history = append(history, now)
		}
		for _, r := range all {
			if err := r.check(history); err != nil {
				return err
			}
		}
		return nil
	}
	w.Always(look)
	w.Actor("A", func(a *explore.Actor) {
		c, err := cache.New(a.Client(), "/services")
		if err != nil {
			w.Fail("%v", err)
			return
		}
		r := &reader{cache: c, heard: map[string]shown{}}
		all = append(all, r)
		go r.listen()
		_ = a.Call("wait until it is filled", c.WaitSynced)
		var zxid int64
		if a.Call("write", func(ctx context.Context) error {
			stat, err := a.Client().Set(ctx, "/services/b", []byte("of the reader"), framework.AnyVersion)
			if err == nil {
				zxid = stat.Mzxid
			}
			return err
		}) != nil {
			return
		}
		if a.Call("wait for it", func(ctx context.Context) error { return c.WaitFor(ctx, zxid) }) == nil && c.Zxid() < zxid {
			w.Fail("the cache is of transaction %#x, and was waited for until %#x", c.Zxid(), zxid)
		}
	})
	w.Actor("B", func(a *explore.Actor) {
		do := func(what, path string, f func(ctx context.Context, path string) error) {
			_ = a.Call(what+" "+path, func(ctx context.Context) error { return f(ctx, "/services/"+path) })
		}
		remove := func(ctx context.Context, path string) error {
			return a.Client().Delete(ctx, path, framework.AnyVersion)
		}
		create := func(ctx context.Context, path string) error {
			_, err := a.Client().Create(ctx, path, nil)
			return err
		}
		do("write", "a", func(ctx context.Context, path string) error {
			_, err := a.Client().Set(ctx, path, []byte("1"), framework.AnyVersion)
			return err
		})
		do("delete", "a/x", remove)
		do("delete", "a", remove)
		do("create", "a", create)
		do("create", "a/y", create)
		do("create", "c", create)
		do("delete", "c", remove)
	})
	w.AtEnd(func(tree explore.Tree) error {
		if err := look(tree); err != nil {
			return err
		}
		last := history[len(history)-1].nodes
		for _, r := range all {
			if !maps.Equal(last, r.heard) {
				return fmt.Errorf("the cache has %v in the end, and the tree %v", r.heard, last)
			}
			if err := r.cache.Close(); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestCache(t *testing.T) { explore.Search(t, cacheBesideAWriter, quick) }

// Older servers have no persistent watches.
func TestCacheWithStandardWatches(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Lacks(zktest.OpAddWatch)
		cacheBesideAWriter(w)
	}, quick)
}

func TestCacheInAnEnsemble(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Ensemble(3)
		cacheBesideAWriter(w)
	}, quick)
}
