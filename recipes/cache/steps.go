package cache

import (
	"log/slog"
	"maps"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// needs says what a read is for.
type needs int

const (
	needNode needs = 1 << iota // its Stat, and its data
	needScan                   // its children, if they are not known as they are
	needList                   // its children
)

// dirt is why a path is dirty.
type dirt struct {
	needs       needs
	born        bool  // the first of the events was told, and is its creation
	first, last int64 // WatchEvent.After of the events, or never
}

const (
	// noTarget is the target of a batch that may be as of no transaction.
	noTarget = -1

	// never is before every transaction.
	never = -1
)

// mark makes a path dirty, whatever the target.
func (l *loop) mark(path string, n needs) { l.soil(path, dirt{needs: n, first: never, last: never}) }

// soil adds a reason why a path is dirty.
func (l *loop) soil(path string, d dirt) {
	if was, ok := l.dirty[path]; ok {
		d.needs |= was.needs
		d.born = was.born
		d.first, d.last = min(was.first, d.first), max(was.last, d.last)
	}
	l.dirty[path] = d
}

// add adds a path to the batch.
func (l *loop) add(path string, n needs) {
	was := l.batch[path]
	l.batch[path] = was | n
	l.members[path] = struct{}{}
	if was == 0 {
		l.queue = append(l.queue, path)
	}
}

// changed is told of an event, and of what is to be read of its path. While the
// server catches up, it may tell of changes that were seen before.
func (l *loop) changed(ev framework.WatchEvent, n needs) {
	if !l.c.scope.has(ev.Path) {
		return
	}
	born := ev.Type == zk.EventNodeCreated && !l.syncing
	l.soil(ev.Path, dirt{needs: n, first: ev.After, last: ev.After, born: born})
	if ev.Path == l.c.scope.root && !l.syncing {
		l.rootEvents = append(l.rootEvents, ev)
	}
}

// arrived takes the result of a read.
func (l *loop) arrived(r result) {
	if r.again != nil {
		l.readAgain(r.again)
		return
	}
	if r.err == nil {
		l.c.recovery.Recovered()
	}
	switch {
	case r.sync:
		l.synced(r)
		return
	case r.together != nil:
		l.readTogetherArrived(r)
		return
	case r.several != nil:
		l.severalArrived(r)
		return
	}
	delete(l.inflight, r.path)
	if l.batch[r.path] != 0 {
		l.queue = append(l.queue, r.path)
	}
	switch {
	case r.err == nil:
		l.take(r)
	case isNoAnswer(r.err):
		l.need(r.path, r.needs)
	case reason.Is(r.err, zk.ErrAuthFailed):
		l.mark(r.path, r.needs) // this is no refusal of the node
		if r.asked == l.round {
			l.awaitReconnect()
		}
	case l.ctx.Err() == nil:
		l.refused(r)
	}
}

// isNoAnswer reports whether an error says nothing of a node. The close of the
// client may end a request before it ends the loop.
func isNoAnswer(err error) bool {
	return framework.IsConnectionError(err) || reason.Is(err, framework.ErrClosed)
}

// take puts what was read into the tree.
func (l *loop) take(r result) {
	if r.node == nil {
		l.tree.remove(r.path)
		return
	}
	e := l.tree.put(r.node)
	if !r.listed {
		return
	}
	names := make(map[string]struct{}, len(r.names))
	for _, name := range r.names {
		names[name] = struct{}{}
		path := znode.Join(r.path, name)
		_, inflight := l.inflight[path] // what it brings may be older than the list
		if (l.tree.nodes[path] == nil || inflight) && l.c.scope.has(path) {
			l.need(path, needNode|needScan)
		}
	}
	for name := range e.names {
		if _, there := names[name]; !there {
			if path := znode.Join(r.path, name); l.tree.knows(path) {
				l.need(path, needNode)
			}
		}
	}
	e.names, e.listed = names, r.pzxid
}

// refused notes a node that cannot be read, mostly for want of rights. The rest
// of the tree goes on, and the node is read again later.
func (l *loop) refused(r result) {
	if _, known := l.tree.unreadable[r.path]; !known {
		l.c.events.At(r.path).Emit(eventUnreadable, r.err)
	}
	l.tree.refuse(r.path, r.err)
	l.waitFor(l.againAfter(r.path, r.err))
}

// need has a path read in this batch. While the server catches up, there is
// none.
func (l *loop) need(path string, n needs) {
	if l.syncing {
		l.mark(path, n)
	} else {
		l.add(path, n)
	}
}

// step lets the cache take a step when the batch is read, and begins the next
// one.
func (l *loop) step() {
	if l.syncing || l.asking || len(l.batch) > 0 || len(l.inflight) > 0 {
		return
	}
	now, ok := l.source.caughtUp()
	if !ok {
		return
	}
	switch {
	case l.isAsOf(now):
		l.stepTo(now)
	case l.hasTarget():
		paths := l.inTheWay()
		if len(paths) == 0 {
			l.stepTo(l.target)
		}
		for _, path := range paths {
			l.hot[path] = restsToCool
		}
	}
	if !l.syncing {
		l.begin(now)
	}
}

// begin begins a batch, if there is something to read, with what was dirty as
// of the newest answer. If there was nothing, because no answer has come since,
// the batch has everything and no target. If there are hot paths, the batch
// begins with these.
func (l *loop) begin(newest int64) {
	l.clearBatch()
	l.target, l.begun = newest, time.Now()
	if paths := l.hotPaths(); len(paths) > 0 {
		l.readTogether(paths)
		return
	}
	l.includeAll()
	if len(l.members) > 0 {
		return
	}
	l.target = noTarget
	for path, d := range l.dirty {
		d.last = never
		l.include(path, d)
	}
}

// includeAll takes what was told of before the target into the batch.
func (l *loop) includeAll() {
	for path, d := range l.dirty {
		if d.first < l.target {
			l.include(path, d)
		}
	}
}

// clearBatch forgets the paths of a batch that is read. After a large one, such
// as the first, it forgets the memory that they took, too.
func (l *loop) clearBatch() {
	if len(l.members) > keptPaths {
		l.batch, l.queue = map[string]needs{}, nil
		dirty := make(map[string]dirt, len(l.dirty))
		maps.Copy(dirty, l.dirty)
		l.dirty = dirty
	}
	l.members = cleared(l.members)
	l.together = cleared(l.together)
}

// keptPaths is how many entries a map may have whose memory is kept.
const keptPaths = 1024

// cleared returns an empty map in place of another one.
func cleared[V any](m map[string]V) map[string]V {
	if len(m) > keptPaths {
		return map[string]V{}
	}
	clear(m)
	return m
}

// include takes a dirty path into the batch.
func (l *loop) include(path string, d dirt) {
	l.add(path, d.needs)
	l.settle(path, d)
}

// settle is called when the batch has a dirty path. If the path was told of
// after the target as well, it stays dirty. The first event after the target is
// not known: it may have come right after it.
func (l *loop) settle(path string, d dirt) {
	delete(l.dirty, path)
	if d.last >= l.target && d.last != never {
		l.dirty[path] = dirt{needs: d.needs, first: max(d.first, l.target), last: d.last}
	}
}

// isAsOf reports whether what was read is what the server had as of the newest
// answer: nothing is dirty, or only because of later changes. An answer and the
// events behind it often come together, above all on a single processor.
func (l *loop) isAsOf(newest int64) bool {
	for _, d := range l.dirty {
		if d.first < newest {
			return false
		}
	}
	return true
}

// hasTarget reports whether what was read in the batch may be what the server
// had at the batch's target.
func (l *loop) hasTarget() bool {
	return l.target != noTarget && len(l.members)+len(l.together) > 0
}

// inTheWay returns the paths that may have been at the batch's target what was
// not read. Those that were read together are as of the target.
func (l *loop) inTheWay() (paths []string) {
	for path, d := range l.dirty {
		createdSince := d.born && d.first >= l.target
		if _, asOfTarget := l.together[path]; !asOfTarget && !createdSince && l.tree.node(path) == nil {
			paths = append(paths, path) // it may have been there, and be gone from its parent's list
		}
	}
	for path := range l.members {
		if _, again := l.dirty[path]; !again {
			continue
		}
		n := l.tree.node(path)
		if n == nil || max(n.Stat.Czxid, n.Stat.Mzxid) > l.target {
			paths = append(paths, path)
		}
	}
	return paths
}

// stepTo makes what was read what the cache has.
func (l *loop) stepTo(zxid int64) {
	if l.eventsAreWrong(zxid) {
		l.cancel(ErrWrongEvents)
		return
	}
	was := l.c.Zxid()
	switch {
	case zxid == was && len(l.tree.touched) == 0 && l.c.isSynced() != l.behind:
		return
	case zxid < was:
		l.c.events.Emit(eventSetBack, nil, slog.Int64(semconv.CacheZxid, zxid), slog.Int64(semconv.CacheZxidBefore, was))
	}
	if len(l.members) > 0 && len(l.together) == 0 {
		l.hot = cleared(l.hot)
	}
	if !l.behind && !l.c.isSynced() {
		l.tellSynced(l.c.wasFilled())
	}
	l.c.publish(&l.tree, zxid, !l.behind)
	l.caughtUpWith(l.begun)
}

// eventsAreWrong reports, before a step to a transaction, whether events of the root
// have not happened to it: ClickHouse Keeper sends the path of a recursive watch in
// place of the path of the node. A root that is the same node was neither created nor
// deleted, and its version counts how often it was set.
func (l *loop) eventsAreWrong(zxid int64) bool {
	was, now := l.rootWas, l.tree.node(l.c.scope.root)
	sets, turns := 0, 0
	for ; len(l.rootEvents) > 0 && l.rootEvents[0].After < zxid; l.rootEvents = l.rootEvents[1:] {
		if l.rootEvents[0].Type == zk.EventNodeDataChanged {
			sets++
		} else {
			turns++
		}
	}
	l.rootWas = now
	if was == nil || now == nil || now.Stat.Czxid != was.Stat.Czxid {
		return false
	}
	return turns > 0 || sets > int(now.Stat.Version-was.Stat.Version)
}

// again has nodes read again that could not be read. No event tells that a server
// has got over its trouble, nor that it gives the client the right to read: it
// tells of no change of an ACL.
type again struct {
	pauses  pauses.Growing
	pausing bool // the next time is set
}

// againAfter returns when a node is read again that could not be read because of an
// error. A tree may have many nodes that a server refuses to show. The root is one
// node, and all that the cache is for.
func (l *loop) againAfter(path string, err error) *again {
	mayPass := follow.Judge(err) == follow.Trouble || path == l.c.scope.root
	if mayPass && !reason.Is(err, framework.ErrAnswerTooLarge) {
		return &l.troubled
	}
	return &l.forbidden // the same request fails in the same way, until somebody changes the node
}

// waitFor sets the time at which the nodes of a kind are read again, unless it is
// set.
func (l *loop) waitFor(a *again) {
	if a.pausing {
		return
	}
	a.pausing = true
	l.inBackground(func() {
		if follow.Pause(l.ctx, l.c.client, &a.pauses) == nil {
			l.deliver(result{again: a})
		}
	})
}

// readAgain reads the nodes of a kind again. Those that have failed once more wait
// for the next time.
func (l *loop) readAgain(a *again) {
	a.pausing = false
	for path, err := range l.tree.unreadable {
		if l.againAfter(path, err) == a {
			l.need(path, needNode|needScan)
		}
	}
}
