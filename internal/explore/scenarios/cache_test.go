package scenarios

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// shown is a node, as a cache and a tree show it.
type shown struct {
	data         string
	czxid, mzxid int64
}

// snapshot is the tree as of one transaction.
type snapshot struct {
	zxid  int64
	nodes map[string]shown
}

func snapshotOf(tree explore.Tree) snapshot {
	s := snapshot{nodes: map[string]shown{}}
	for _, n := range append(below(tree, "/top"), tree["/top"]) {
		s.zxid = max(s.zxid, n.Stat.Mzxid, n.Stat.Pzxid) // the last one also knows of deletions
		if n.Path != "/top" {
			s.nodes[n.Path] = shown{string(n.Data), n.Stat.Czxid, n.Stat.Mzxid}
		}
	}
	return s
}

// reader is a cache, and somebody who listens to it.
type reader struct {
	actor *explore.Actor
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
	if all := r.cache.Unreadable(); len(all) > 0 { // a server has failed to read them
		want.nodes = maps.Clone(want.nodes)
		maps.DeleteFunc(want.nodes, func(path string, _ shown) bool {
			_, has := nodes[path]
			for unread := range all {
				if path == unread || !has && strings.HasPrefix(path, unread+"/") {
					return true
				}
			}
			return false
		})
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
func cacheBesideAWriter(change func(w *writer), own trouble) explore.Scenario {
	return func(w *explore.World) {
		for _, path := range []string{"/top", "/top/services", "/top/services/a", "/top/services/a/x", "/top/services/b"} {
			w.Node(path, "0")
		}
		var history []snapshot
		var all []*reader
		var written int64           // the last transaction of the writer
		done := make(chan struct{}) // closed when it has written all
		look := func(tree explore.Tree) error {
			if now := snapshotOf(tree); len(history) == 0 || history[len(history)-1].zxid != now.zxid {
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
			c, err := cache.New(a.Client(), "/top/services")
			if err != nil {
				w.Fail("%v", err)
				return
			}
			r := &reader{actor: a, cache: c, heard: map[string]shown{}}
			all = append(all, r)
			go r.listen()
			_ = a.Call("wait until it is filled", c.WaitSynced)
			own(a)
			writesAndWaits(w, a, c)
			<-done
			waitsFor(w, a, c, written)
		})
		w.Actor("B", func(a *explore.Actor) {
			change(&writer{a, &written})
			close(done)
		})
		w.AtEnd(func(tree explore.Tree) error {
			if err := look(tree); err != nil {
				return err
			}
			last := history[len(history)-1].nodes
			for _, r := range all {
				if !r.actor.Closed() && !maps.Equal(last, r.heard) {
					return fmt.Errorf("the cache has %v in the end, and the tree %v", r.heard, last)
				}
				if err := r.cache.Close(); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// writesAndWaits has an actor write, and wait for that to be in the cache.
func writesAndWaits(w *explore.World, a *explore.Actor, c *cache.Cache) {
	var zxid int64
	if a.Call("write", func(ctx context.Context) error {
		stat, err := a.Client().Set(ctx, "/top/services/b", []byte("of the reader"), framework.AnyVersion)
		if err == nil {
			zxid = stat.Mzxid
		}
		return err
	}) != nil {
		return
	}
	waitsFor(w, a, c, zxid)
}

// waitsFor waits for what there is to be in the cache.
func waitsFor(w *explore.World, a *explore.Actor, c *cache.Cache, zxid int64) {
	err := a.Call("wait for it", func(ctx context.Context) error { return c.WaitFor(ctx, zxid) })
	if reason.Is(err, cache.ErrFutureZxid) {
		w.Fail("%s is told that there is no transaction %#x", a.Name(), zxid)
	}
	if err == nil && c.Zxid() < zxid {
		w.Fail("the cache is of transaction %#x, and was waited for until %#x", c.Zxid(), zxid)
	}
}

// writer changes the tree.
type writer struct {
	actor   *explore.Actor
	written *int64
}

func (w *writer) do(what, path string, f func(ctx context.Context, path string) error) {
	_ = w.actor.Call(what+" "+path, func(ctx context.Context) error { return f(ctx, "/top/services"+path) })
}

func (w *writer) write(path, data string) {
	w.do("write", path, func(ctx context.Context, path string) error {
		stat, err := w.actor.Client().Set(ctx, path, []byte(data), framework.AnyVersion)
		if err == nil {
			*w.written = stat.Mzxid
		}
		return err
	})
}

func (w *writer) create(path string) {
	w.do("create", path, func(ctx context.Context, path string) error {
		made, err := w.actor.Client().Create(ctx, path, nil)
		if err == nil {
			*w.written = made.Czxid
		}
		return err
	})
}

func (w *writer) remove(path string) {
	w.do("delete", path, func(ctx context.Context, path string) error {
		return w.actor.Client().Delete(ctx, path, framework.AnyVersion)
	})
}

// nodesComeAndGo changes what is below the root of the cache.
func nodesComeAndGo(w *writer) {
	w.write("/a", "1")
	w.remove("/a/x")
	w.remove("/a")
	w.create("/a")
	w.create("/a/y")
	w.create("/c")
	w.remove("/c")
}

// rootComesAndGoes deletes the root of the cache, and makes it anew.
func rootComesAndGoes(w *writer) {
	w.remove("/a/x")
	w.remove("/a")
	w.remove("/b")
	w.remove("")
	w.create("")
	w.create("/b")
}

func TestCache(t *testing.T) { explore.Search(t, cacheBesideAWriter(nodesComeAndGo, none), quick()) }

func TestCacheOfARootThatComesAndGoes(t *testing.T) {
	explore.Search(t, cacheBesideAWriter(rootComesAndGoes, none), quick())
}

// The cache hears nothing of some changes, and looks at every node again.
func TestCacheAfterACut(t *testing.T) {
	explore.Search(t, cacheBesideAWriter(nodesComeAndGo, cut), quick())
}

func TestCacheAfterALoss(t *testing.T) {
	explore.Search(t, cacheBesideAWriter(rootComesAndGoes, loss), quick())
}

// A server fails to read a node, or to set the watch.
func TestCacheAfterAFailure(t *testing.T) {
	for _, c := range []struct {
		name string
		own  trouble
	}{
		{"to read", meets(zktest.OpGetData, zktest.Fail(zkinside.ErrSystem))},
		{"to set the watch", func(a *explore.Actor) {
			a.Meets(zkinside.OpAddWatch, zktest.Fail(zkinside.ErrSystem))
			loss(a)
		}},
	} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, cacheBesideAWriter(nodesComeAndGo, c.own), quick()) })
	}
}

func TestCacheInAnEnsemble(t *testing.T) {
	explore.Search(t, inEnsemble(cacheBesideAWriter(nodesComeAndGo, none)), quick())
}

// Servers that lag keep nobody from seeing what others have written.
func TestCacheWhoseLeaderLags(t *testing.T) {
	searchAtEach(t, cacheBesideAWriter(nodesComeAndGo, cut), time.Second)
}

// One is told of a write, and waits for it, at a server that may not know of it.
func TestCacheThatIsWaitedFor(t *testing.T) {
	searchAtEach(t, func(w *explore.World) {
		w.Node("/top", "")
		w.Node("/top/services", "")
		news := make(chan int64, 3)
		w.Actor("A", func(a *explore.Actor) {
			c, err := cache.New(a.Client(), "/top/services")
			if err != nil {
				refuse(w, a, err)
				return
			}
			_ = a.Call("wait until it is filled", c.WaitSynced)
			for zxid := range news {
				waitsFor(w, a, c, zxid)
			}
			_ = c.Close()
		})
		w.Actor("B", func(a *explore.Actor) {
			defer close(news)
			for range cap(news) {
				time.Sleep(time.Second)
				b := &writer{a, new(int64)}
				b.write("", "again")
				if *b.written > 0 {
					news <- *b.written
				}
			}
		})
	}, time.Second)
}
