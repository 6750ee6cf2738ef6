package inspect

import (
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// visit is what was found at one node.
type visit struct {
	path    string
	recipes []Recipe
	below   []string     // the nodes to visit next, in order
	member  *Participant // the node itself, if it is ephemeral
	gone    []Recipe     // all that was listed of these has gone before it was read
}

// isLeaf reports whether there is nothing to do for the node: it is gone, or a
// registration.
func (v *visit) isLeaf() bool { return v.member != nil || len(v.recipes) == 0 && len(v.below) == 0 }

// visit looks at a node. If all contenders of a recipe have gone before they were
// read, it looks again: others may have come behind them before they went, and
// the recipe was never free. After the last look nobody knows who holds it.
func (w *walk) visit(path string, level int) (*visit, error) {
	vanished := pauses.Vanished()
	for looks := 1; ; looks++ {
		v, err := w.visitOnce(path, level)
		if err != nil || len(v.gone) == 0 {
			return v, err
		}
		if looks == lockloop.MostLooks {
			v.recipes = append(v.recipes, v.gone...)
			return v, nil
		}
		if err := follow.Pause(w.ctx, w.client, &vanished); err != nil {
			return nil, err
		}
	}
}

// visitOnce looks at a node. Below the deepest level it only looks whether the
// node is a registration.
func (w *walk) visitOnce(path string, level int) (*visit, error) {
	v := &visit{path: path}
	if level > w.depth {
		return v, w.glance(v)
	}
	names, stat, err := w.children(path)
	switch {
	case reason.Is(err, zk.ErrNoNode) && level > 0:
		return v, nil
	case reason.Is(err, zk.ErrNoAuth):
		return v, w.forbidden(v, err)
	case err != nil:
		return nil, err
	case stat.EphemeralOwner != 0:
		return v, w.register(v)
	}
	return v, w.recognise(v, sortOut(names))
}

// glance finds out whether a node is a registration.
func (w *walk) glance(v *visit) error {
	if !w.wants(Registrations) {
		return nil
	}
	stat, err := w.stat(v.path)
	switch {
	case reason.Is(err, zk.ErrNoAuth):
		return w.forbidden(v, err)
	case err != nil || stat == nil || stat.EphemeralOwner == 0:
		return err
	}
	return w.register(v)
}

// forbidden notes that a node may not be listed. Some servers tell what kind of
// node it is nevertheless.
func (w *walk) forbidden(v *visit, why error) error {
	stat, err := w.stat(v.path)
	switch {
	case reason.Is(err, zk.ErrNoAuth):
	case err != nil || stat == nil:
		return err
	case stat.EphemeralOwner != 0:
		return w.register(v)
	case isContender(v.path) && stat.NumChildren == 0:
		return nil
	}
	v.recipes = []Recipe{{Path: v.path, Kind: Unreadable, Reason: why.Error()}}
	return nil
}

// register notes that the node is a registration.
func (w *walk) register(v *visit) error {
	if isContender(v.path) {
		return nil // its recipe is not selected
	}
	if !w.wants(Registrations) {
		v.member = &Participant{}
		return nil
	}
	seen, err := w.registration(v.path)
	if seen != nil {
		v.member = &seen.Participant
	}
	return err
}

// recognise finds the recipes among the children of a node.
func (w *walk) recognise(v *visit, c contents) error {
	for _, find := range []func(*visit, *contents) error{
		w.findLocks, w.findSemaphore, w.findLeases, w.findKazooSemaphore, w.findQueue, w.findLockingQueue,
	} {
		if err := find(v, &c); err != nil {
			return err
		}
	}
	v.below = append(v.below, paths(v.path, append(c.hexes, c.dirs...))...)
	slices.Sort(v.below)
	return nil
}

// findLocks finds what queues at the node itself.
func (w *walk) findLocks(v *visit, c *contents) error {
	exclusive, shared := lockloop.Exclusive, lockloop.ReadersAndWriters(writeNode)
	for _, q := range []queue{
		{Recipe{Kind: Mutex, Layout: Curator, MayBe: mayBeMutex(v.path)}, c.mutex, exclusive},
		{Recipe{Kind: ReadWriteLock, Layout: Curator}, c.readWrite, shared},
		{Recipe{Kind: LeaderLatch, Layout: Curator}, c.latch, exclusive},
		kazooQueue(v.path, c.kazoo),
	} {
		if err := w.findQueueOf(v, q); err != nil {
			return err
		}
	}
	return nil
}

// mayBeMutex returns what else the nodes of a mutex may be.
func mayBeMutex(path string) []Kind {
	if strings.HasSuffix(path, "/"+gateDir) {
		return []Kind{LeaderSelector, Semaphore}
	}
	return []Kind{LeaderSelector}
}

// kazooQueue returns the lock of kazoo that has these contenders. Mutexes and
// writers of read/write locks have the same names there.
func kazooQueue(path string, entries []lockloop.Entry) queue {
	for _, e := range entries {
		if e.Kind == kazooReadNode {
			return queue{Recipe{Kind: ReadWriteLock, Layout: Kazoo}, entries, lockloop.ReadersAndWriters(kazooNode)}
		}
	}
	r := Recipe{Kind: Mutex, Layout: Kazoo, MayBe: []Kind{ReadWriteLock, Election}}
	if strings.HasSuffix(path, kazooGateEnd) {
		r.MayBe = append(r.MayBe, Semaphore)
	}
	return queue{r, entries, lockloop.Exclusive}
}

// queue is a recipe whose contenders are admitted by their order.
type queue struct {
	Recipe
	entries []lockloop.Entry
	blocks  lockloop.Blocks
}

// findQueueOf reads the contenders of a queue that is there.
func (w *walk) findQueueOf(v *visit, q queue) error {
	if len(q.entries) == 0 {
		return nil
	}
	if !w.wants(q.Kind, q.MayBe...) {
		v.passBy(v.path, q.entries)
		return nil
	}
	if hidden, err := w.isGateBesideLeases(v.path, q); hidden || err != nil {
		if hidden && !w.wants(Semaphore) {
			v.passBy(v.path, q.entries)
		}
		return err
	}
	all, unread, downgraded, err := w.contendersOf(v.path, q)
	if err != nil {
		return err
	}
	r := q.Recipe
	r.Path, r.Unread = v.path, unread
	order := make([]lockloop.Entry, len(all))
	for i, seen := range all {
		order[i] = seen.entry
	}
	known := lockloop.Sort(slices.Clone(order))
	for i, holds := range lockloop.Holders(order, q.blocks) {
		p := &all[i].Participant
		p.Position, p.Unsure = i, !known
		p.Reader = order[i].Kind == readNode || order[i].Kind == kazooReadNode
		if holds {
			p.Unsure = p.Unsure || downgraded && !p.Reader // a reader ahead holds beside readers
			r.Holders = append(r.Holders, *p)
		} else {
			r.Waiters = append(r.Waiters, *p)
		}
	}
	v.note(r, all, len(q.entries))
	return nil
}

// contendersOf reads the contenders of a queue. A holder of a read/write lock may
// change its write node for a read node meanwhile, which is not in the queue that
// was listed. It holds all the while, and the next one does not. If downgraded is
// true, that was so in the last look, too: the reader ahead is not among all.
func (w *walk) contendersOf(path string, q queue) (all []sighting, unread int, downgraded bool, err error) {
	for looks := 1; ; looks++ {
		all, unread, err = w.participants(path, q.entries, w.most)
		complete := q.Kind != ReadWriteLock || len(all)+unread == len(q.entries)
		if err != nil || complete {
			return all, unread, false, err
		}
		now, err := w.listed(path)
		downgraded = err == nil && now != nil && lockloop.HasDowngraded(q.entries, now.readWrite, readNode)
		if !downgraded || looks == lockloop.MostLooks {
			return all, unread, downgraded, err
		}
		q.entries = now.readWrite
	}
}

// passBy has the contenders of a recipe that is not selected visited like other
// nodes: there may be something below them.
func (v *visit) passBy(parent string, contenders []lockloop.Entry) {
	for _, e := range contenders {
		v.below = append(v.below, znode.Join(parent, e.Node))
	}
}

// passByLeases does the same for leases. They may be registrations by their
// names, so it leaves them out if registrations are selected.
func (w *walk) passByLeases(v *visit, parent string, names []string) {
	if !w.wants(Registrations) {
		v.below = append(v.below, paths(parent, names)...)
	}
}

// isContender reports whether a path has the name of a contender.
func isContender(path string) bool {
	c := sortOut([]string{path[strings.LastIndex(path, "/")+1:]})
	return len(c.mutex)+len(c.readWrite)+len(c.latch)+len(c.lease)+len(c.kazoo) > 0
}

// note adds a recipe of which so many participants were listed. It may be that all
// of them have gone since. Participants that have children are visited like others.
func (v *visit) note(r Recipe, all []sighting, listed int) {
	if len(r.Holders)+len(r.Waiters)+r.Unread+r.Items > 0 {
		v.recipes = append(v.recipes, r)
	} else {
		r.Unread = listed
		v.gone = append(v.gone, r)
	}
	for _, seen := range all {
		if seen.parent {
			v.below = append(v.below, seen.Path)
		}
	}
}

// findQueue finds a queue of items. It looks at the first one only.
func (w *walk) findQueue(v *visit, c *contents) error {
	if len(c.items) == 0 || !w.wants(Queue) {
		return nil
	}
	r := Recipe{Path: v.path, Kind: Queue, Layout: layoutOfItems(c.items), Items: len(c.items)}
	stat, err := w.stat(znode.Join(v.path, c.items[0]))
	if stat != nil {
		r.Since = time.UnixMilli(stat.Ctime).UTC()
	}
	v.recipes = append(v.recipes, r)
	return err
}

func layoutOfItems(items []string) Layout {
	if strings.HasPrefix(items[0], "entry-") {
		return Kazoo
	}
	return Curator
}
