package inspect

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/order"
)

// visit is the result of visiting one node.
type visit struct {
	path    string
	recipes []Recipe
	below   []string     // the nodes to visit next, in order
	member  *Participant // the node itself, if it is a registration
	stale   bool         // contenders left during the read, and the recipe may have another holder
}

// visit reads a node and the participants of its recipes. If the contenders of a recipe
// left before they were read, visit reads the node again: other contenders may have
// queued behind them, and the recipe was never free. Unread or Unsure shows what the
// last read leaves open.
func (w *walk) visit(path string, level int) (*visit, error) {
	vanished := pauses.Vanished()
	for looks := 1; ; looks++ {
		v, err := w.visitOnce(path, level)
		if err != nil || !v.stale || looks == order.MostLooks {
			return v, err
		}
		if err := follow.Pause(w.ctx, w.client, &vanished); err != nil {
			return nil, err
		}
	}
}

// visitOnce reads a node. Below the deepest level it only finds out whether the
// node is a registration.
func (w *walk) visitOnce(path string, level int) (v *visit, err error) {
	v = &visit{path: path}
	names, stat, refused, err := w.look(path, level)
	switch {
	case reason.Is(err, zk.ErrNoNode) && level > 0:
		return v, nil
	case err != nil:
		return nil, err
	}
	switch v.member, err = w.registration(path, stat); {
	case err != nil:
		return nil, err
	case v.member != nil && stat.NumChildren == 0:
	case refused != nil:
		v.recipes = []Recipe{{Path: path, Kind: Unreadable, Reason: refused.Error()}}
	default:
		err = w.recognise(v, sortOut(names))
	}
	return v, err
}

// look lists a node or, below the deepest level, only reads its stat. If the server
// refuses the list, look reads the stat, which some servers allow; otherwise the stat
// is empty.
func (w *walk) look(path string, level int) (names []string, stat *zk.Stat, refused, err error) {
	if level > w.depth {
		stat, err = w.stat(path)
	} else {
		names, stat, err = w.children(path)
	}
	if !reason.Is(err, zk.ErrNoAuth) {
		return names, stat, nil, err
	}
	refused = err
	if stat, err = w.stat(path); reason.Is(err, zk.ErrNoAuth) {
		stat, err = &zk.Stat{}, nil
	}
	return nil, stat, refused, err
}

// recognise finds the recipes among the children of a node.
func (w *walk) recognise(v *visit, c contents) error {
	for _, find := range []func(*visit, *contents) error{
		w.findLines, w.findSemaphore, w.findKazooSemaphore, w.findQueue, w.findLockingQueue,
	} {
		if err := find(v, &c); err != nil {
			return err
		}
	}
	v.below = append(v.below, below(v.path, append(c.hexes, c.dirs...))...)
	slices.Sort(v.below)
	return nil
}

// note adds a recipe with the number of its listed participants. The walk visits
// participants with children like other nodes.
func (v *visit) note(r Recipe, all []sighting, listed int) {
	if len(r.Holders)+len(r.Waiters)+r.Items == 0 {
		r.Unread, v.stale = listed, true
	}
	v.recipes = append(v.recipes, r)
	for _, seen := range all {
		if seen.parent {
			v.below = append(v.below, seen.Path)
		}
	}
}

// line is a recipe that admits its contenders in order.
type line struct {
	Recipe
	entries []order.Entry
	blocks  order.Blocks
}

// findLines finds the contenders that are queued at the node itself.
func (w *walk) findLines(v *visit, c *contents) error {
	exclusive, shared := order.Exclusive, order.ReadersAndWriters(writeNode)
	for _, l := range []line{
		{Recipe{Kind: Mutex, Layout: curatorLayout, MayBe: mayBeMutex(v.path)}, c.mutex, exclusive},
		{Recipe{Kind: ReadWriteLock, Layout: curatorLayout}, c.readWrite, shared},
		{Recipe{Kind: LeaderLatch, Layout: curatorLayout}, c.latch, exclusive},
		kazooLine(v.path, c.kazoo),
	} {
		if len(l.entries) == 0 {
			continue
		}
		if err := w.readLine(v, l); err != nil {
			return err
		}
	}
	return nil
}

// mayBeMutex returns the other kinds that the nodes of a mutex may belong to.
func mayBeMutex(path string) []Kind {
	if strings.HasSuffix(path, "/"+gateDir) {
		return []Kind{leaderSelector, Semaphore}
	}
	return []Kind{leaderSelector}
}

// kazooLine returns kazoo's lock with these contenders. In kazoo, mutexes and writers
// of read/write locks have the same names.
func kazooLine(path string, entries []order.Entry) line {
	for _, e := range entries {
		if e.Kind == kazooReadNode {
			return line{Recipe{Kind: ReadWriteLock, Layout: kazooLayout}, entries, order.ReadersAndWriters(kazooNode)}
		}
	}
	r := Recipe{Kind: Mutex, Layout: kazooLayout, MayBe: []Kind{ReadWriteLock, election}}
	if strings.HasSuffix(path, kazooGateEnd) {
		r.MayBe = append(r.MayBe, Semaphore)
	}
	return line{r, entries, order.Exclusive}
}

// readLine reads the contenders of a line, and finds out which of them hold.
func (w *walk) readLine(v *visit, l line) error {
	if hidden, err := w.isGateBesideLeases(v.path, l); hidden || err != nil {
		return err
	}
	all, asked, err := w.contenders(v.path, l.entries, w.most)
	if err != nil {
		return err
	}
	r := l.Recipe
	r.Path, r.Unread = v.path, len(l.entries)-len(asked)
	queue := make([]order.Entry, len(all))
	for i, seen := range all {
		queue[i] = seen.entry
	}
	// A holder may have exchanged its write node for a read node after the listing.
	// Then that holder has held all the time, and the next writer does not hold.
	downgraded := writers(queue) < writers(asked)
	v.stale = v.stale || downgraded
	known := order.Sort(slices.Clone(queue))
	for i, holds := range order.Holders(queue, l.blocks) {
		p := all[i].Participant
		p.Reader = queue[i].Kind == readNode || queue[i].Kind == kazooReadNode
		p.Unsure = !known || holds && downgraded && !p.Reader
		if holds {
			r.Holders = append(r.Holders, p)
		} else {
			r.Waiters = append(r.Waiters, p)
		}
	}
	v.note(r, all, len(l.entries))
	return nil
}

// writers counts the writers among the contenders for a read/write lock in
// Curator's layout.
func writers(all []order.Entry) (n int) {
	for _, e := range all {
		if e.Kind == writeNode {
			n++
		}
	}
	return n
}

// findQueue finds a queue of items.
func (w *walk) findQueue(v *visit, c *contents) error {
	if len(c.items) == 0 || !w.wants(Queue) {
		return nil
	}
	layout := curatorLayout
	if strings.HasPrefix(c.items[0], "entry-") {
		layout = kazooLayout
	}
	since, err := w.firstOf(v.path, c.items)
	v.recipes = append(v.recipes, Recipe{Path: v.path, Kind: Queue, Layout: layout, Items: len(c.items), Since: since})
	return err
}

// firstOf returns when the first item of a queue was added, if known.
func (w *walk) firstOf(parent string, items []string) (since time.Time, err error) {
	if len(items) == 0 {
		return since, nil
	}
	stat, err := w.stat(znode.Join(parent, items[0]))
	switch {
	case isAbsent(err):
		return since, nil
	case err != nil:
		return since, err
	}
	return time.UnixMilli(stat.Ctime).UTC(), nil
}

// findLockingQueue finds a LockingQueue of kazoo: its items, and the workers that have
// taken an item.
func (w *walk) findLockingQueue(v *visit, c *contents) error {
	if !slices.Contains(c.dirs, entriesDir) || !slices.Contains(c.dirs, takenDir) || !w.wants(Queue) {
		return nil
	}
	entriesAt, takenAt := znode.Join(v.path, entriesDir), znode.Join(v.path, takenDir)
	entries, err := w.list(entriesAt)
	if err != nil {
		return err
	}
	taken, err := w.list(takenAt)
	if err != nil || entries.hidden || taken.hidden || len(entries.items)+len(taken.items) == 0 {
		return err
	}
	workers, err := w.byCreation(takenAt, taken.items)
	if err != nil {
		return err
	}
	r := Recipe{Path: v.path, Kind: Queue, Layout: kazooLayout, Items: len(entries.items)}
	if r.Since, err = w.firstOf(entriesAt, entries.items); err != nil {
		return err
	}
	r.admit(workers, nil, false)
	v.note(r, workers, len(taken.items))
	v.below = append(v.below, below(entriesAt, append(entries.hexes, entries.dirs...))...)
	v.below = append(v.below, below(takenAt, append(taken.hexes, taken.dirs...))...)
	c.dirs = slices.DeleteFunc(c.dirs, func(name string) bool { return name == entriesDir || name == takenDir })
	return nil
}

// registration returns the participant with the node at a path, or nil if the node is
// not a registration or is gone.
func (w *walk) registration(path string, stat *zk.Stat) (*Participant, error) {
	service, isInstance := w.serviceOf(path)
	if !w.wants(Registrations) || stat.EphemeralOwner == 0 && !isInstance {
		return nil, nil
	}
	seen, err := w.one(path)
	if seen == nil || err != nil {
		return nil, err
	}
	p := &seen.Participant
	if !isInstance {
		p.setInstance(instanceOf(path, seen.data))
		return p, nil
	}
	_, name := znode.Split(path)
	said, err := w.codec.Decode(service, name, seen.data)
	known := &discovery.Instance{Service: service, ID: name}
	switch {
	case seen.Unreadable:
		p.Instance = known
	case err == nil:
		said.Service, said.ID = service, name
		p.setInstance(&said)
	case reason.Is(err, discovery.ErrNotInstance) || seen.parent:
		if p.Session == 0 {
			return nil, nil
		}
	default:
		p.Instance, p.Problem = known, "malformed: "+err.Error()
	}
	return p, nil
}

// setInstance records the instance of a node, if there is one.
func (p *Participant) setInstance(i *discovery.Instance) {
	if p.Instance = i; i == nil {
		return
	}
	if at := i.HostPort(); at != "" && printable.Is(at) { // any client may have written it
		p.ID = at
	}
}

// serviceOf returns the service that should have a node at a path, as a
// discovery.Directory sees it.
func (w *walk) serviceOf(path string) (string, bool) {
	if w.codec == nil || path == w.root {
		return "", false
	}
	parent, _ := znode.Split(path)
	dir := strings.TrimPrefix(parent, strings.TrimSuffix(w.root, "/"))
	service, ok := w.codec.Service(dir)
	if !ok {
		return "", false
	}
	own, err := w.codec.Dir(service)
	return service, err == nil && own == dir
}

// instanceOf returns the instance in a node's data, or nil. In Java's formats, the data
// repeat the names of the node and of the service's folder.
func instanceOf(nodePath string, data []byte) *discovery.Instance {
	var said struct{ Name, ID string }
	parent, name := znode.Split(nodePath)
	isWhole := json.Unmarshal(data, &said) == nil && said.ID == name && said.Name != ""
	if !isWhole || !strings.HasSuffix(parent, "/"+said.Name) {
		return nil
	}
	i, err := discovery.CuratorCodec().Decode(said.Name, name, data)
	if err != nil {
		return nil
	}
	return &i
}
