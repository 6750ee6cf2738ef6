package curatorz

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/nodes"
)

// node is a persistent node, from its start to its end. The page's mutex protects the
// last three fields.
type node struct {
	page   *page
	client *framework.Client
	node   *nodes.PersistentNode
	path   string // the server's path for the requested path

	there bool
	since time.Time // when the node was created or lost
	err   error     // why the node does not exist
}

// NodeStarted implements nodes.HookNodeStarted.
func (p *page) NodeStarted(start nodes.NodeStart) nodes.NodeTracer {
	n := &node{page: p, client: start.Client, node: start.Node,
		path: fullPath(start.Client, start.Path), since: start.Time}
	p.change(rootOf(n.client), func(r *record) { r.followers[n] = n.show })
	return n
}

// NodeChanged implements nodes.NodeTracer.
func (n *node) NodeChanged(change nodes.TracedChange) {
	e := event{at: change.Time, name: "registration", path: n.path, text: change.State.String()}.because(change.Err)
	there := change.State == nodes.Registered || change.State == nodes.Overwritten
	if change.State == nodes.Overwritten {
		e.name, e.text = "overwritten", "by another client"
	}
	e.bad = change.State != nodes.Registered && !wanted(change.Err)
	n.page.change(rootOf(n.client), func(r *record) {
		r.events.add(e)
		if n.err = change.Err; there != n.there {
			n.there, n.since = there, change.Time
		}
		if change.State == nodes.Ended {
			delete(r.followers, n)
		}
	})
}

// wanted reports whether the program itself has closed something.
func wanted(err error) bool {
	return reason.Is(err, nodes.ErrClosed) || reason.Is(err, cache.ErrClosed) || reason.Is(err, framework.ErrClosed)
}

// registration is the state of a persistent node.
type registration struct {
	Path  string // as given to NewPersistentNode
	Node  string // the path of the node; empty while it does not exist
	Czxid int64
	Since time.Time
	Err   error // why the node does not exist
}

// show adds the state of the node to a source.
func (n *node) show(s *source) {
	n.page.mu.Lock()
	r := registration{Path: n.path, Since: n.since, Err: n.err}
	n.page.mu.Unlock()
	if now, there := n.node.Registration(); there {
		r.Node, r.Czxid = fullPath(n.client, now.Path), now.Czxid
	} else {
		r.Err = cmp.Or(n.node.LastError(), r.Err)
	}
	s.registrations = append(s.registrations, r)
}

func (v view) registration(r registration) row {
	if r.Node == "" {
		return rowOf(true, r.Path, list("NOT registered for "+v.since(r.Since), errText(r.Err)), "")
	}
	return rowOf(false, r.Path, "registered for "+v.since(r.Since), fmt.Sprintf("%s, czxid %#x", r.Node, r.Czxid))
}

// CacheOpened implements cache.HookCacheOpened.
func (p *page) CacheOpened(c *cache.Cache) {
	p.change(rootOf(c.Client()), func(r *record) {
		r.followers[c] = func(s *source) {
			unreadable := c.Unreadable()
			s.caches = append(s.caches, tree{
				fullPath(c.Client(), c.Path()), c.Stats(), c.Zxid(), len(unreadable), unreadable[c.Path()],
			})
		}
	})
}

// CacheClosed implements cache.HookCacheClosed.
func (p *page) CacheClosed(c *cache.Cache) {
	e := event{at: time.Now(), name: "cache", path: fullPath(c.Client(), c.Path()), text: "ended"}
	if err := c.Err(); !wanted(err) {
		e.bad, e.text = true, e.text+": "+errText(err)
	}
	p.change(rootOf(c.Client()), func(r *record) {
		delete(r.followers, c)
		r.events.add(e)
	})
}

// tree is the state of a cache.
type tree struct {
	Root string
	cache.Stats
	Zxid       int64
	Unreadable int
	RootErr    error // why the root is unreadable
}

func (v view) cache(c tree) row {
	state := "up to date"
	switch {
	case c.RootErr != nil:
		state = "the root CANNOT BE READ: " + errText(c.RootErr)
	case c.Zxid == 0:
		state = "not filled yet"
	case c.Lag > 0:
		state = "behind for " + duration(c.Lag)
		if c.Behind > 0 {
			state += ", " + count(c.Behind, "transaction")
		}
	case c.Unreadable > 0:
		state = "up to date, except for nodes that cannot be read"
	}
	nodes := count(c.Known, "node")
	if c.ToRead > 0 {
		nodes += fmt.Sprintf(", %d still to read", c.ToRead)
	}
	if c.Unreadable > 0 {
		nodes += fmt.Sprintf(", %d unreadable", c.Unreadable)
	}
	return rowOf(c.RootErr != nil, c.Root, state, nodes, fmt.Sprintf("%#x", c.Zxid), fmt.Sprint(c.Resyncs))
}

// DirectoryChanged implements discovery.HookDirectoryChanged.
func (p *page) DirectoryChanged(change discovery.DirectoryChange) {
	d := change.Directory
	e := event{at: time.Now(), name: "directory", path: fullPath(change.Client, d.Path()), bad: change.Malformed > 0}
	e.text = fmt.Sprintf("%d added, %d removed, %d updated, %d malformed",
		change.Added, change.Removed, change.Updated, change.Malformed)
	p.change(rootOf(change.Client), func(r *record) {
		r.followers[d] = func(s *source) { s.directories = append(s.directories, services{e.path, d.Snapshot()}) }
		if change.Ended {
			delete(r.followers, d)
		}
		if change.Added+change.Removed+change.Updated+change.Malformed > 0 {
			r.events.add(e)
		}
	})
}

// InstanceChanged implements discovery.HookInstanceChanged.
func (p *page) InstanceChanged(change discovery.InstanceChange) {
	e := event{at: change.Time, name: "instance", path: fullPath(change.Client, change.Path), text: "drains no more"}
	if change.Drains {
		e.text = "drains"
	}
	p.change(rootOf(change.Client), func(r *record) { r.events.add(e) })
}

// InstanceEjected implements discovery.HookInstanceEjected.
func (p *page) InstanceEjected(ejected discovery.Ejection) {
	e := event{at: time.Now(), name: "ejected", path: fullPath(ejected.Client, ejected.Directory.Path()), bad: true}
	e.text = fmt.Sprintf("%s %s for %s: %s",
		ejected.Instance.Service, ejected.Instance.ID, duration(ejected.For), errText(ejected.Err))
	p.change(rootOf(ejected.Client), func(r *record) { r.events.add(e) })
}

// services is the state of a directory.
type services struct {
	Root string
	*discovery.Snapshot
}

// mostShown is how many services of a directory the page shows.
const mostShown = 20

func (v view) directory(d services) row {
	state := "up to date"
	switch {
	case d.Err != nil:
		state = "interrupted, its path CANNOT BE READ: " + errText(d.Err)
	case !d.Filled:
		state = "not filled yet"
	case d.Interrupted:
		state = "INTERRUPTED, it may be old"
	}
	names := d.Services()
	more := len(names) - mostShown
	names = names[:min(len(names), mostShown)]
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, len(d.Of(name)))
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	malformed := ""
	if len(d.Bad) > 0 {
		malformed = fmt.Sprintf("%d, such as %s: %s", len(d.Bad), d.Bad[0].Path, errText(d.Bad[0].Err))
	}
	return rowOf(d.Err != nil || d.Filled && d.Interrupted, d.Root, state,
		fmt.Sprintf("%#x", d.Zxid), strings.Join(names, "; "), malformed)
}
