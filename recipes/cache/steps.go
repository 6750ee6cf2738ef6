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

// needs says what to read of a path.
type needs int

const (
	needNode needs = 1 << iota // its Stat, and its data
	needScan                   // its children, if the known list may be old
	needList                   // its children
)

// dirt says why a path is dirty.
type dirt struct {
	needs       needs
	born        bool  // the first event is the creation of the node
	first, last int64 // WatchEvent.After of the first and last event, or never
}

const (
	// noTarget means that a batch as a whole may match no transaction.
	noTarget = -1

	// never is less than every transaction.
	never = -1
)

// mark makes a path dirty for any target.
func (l *loop) mark(path string, n needs) { l.soil(path, dirt{needs: n, first: never, last: never}) }

// soil marks a path as dirty and adds a reason to the path's reasons.
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

// changed takes an event, and what to read of its path. While the server catches up,
// events may report changes that the loop has seen before.
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
	if r.retry != nil {
		l.readAgain(r.retry)
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
		l.mark(r.path, r.needs) // the server has refused the client, not the node
		if r.asked == l.round {
			l.awaitReconnect()
		}
	case l.ctx.Err() == nil:
		l.refused(r)
	}
}

// isNoAnswer reports whether an error says nothing about the node. Closing the client
// may end a request before the loop ends.
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
		_, inflight := l.inflight[path] // that answer may be older than the list
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

// refused notes a node that cannot be read, mostly for lack of permission. The cache
// follows the rest of the tree, and reads the node again later.
func (l *loop) refused(r result) {
	if _, known := l.tree.unreadable[r.path]; !known {
		l.c.events.At(r.path).Emit(eventUnreadable, r.err)
	}
	l.tree.refuse(r.path, r.err)
	l.waitFor(l.retryFor(r.path, r.err))
}

// need adds a path to the current batch. While the server catches up, there is no
// batch, and the path becomes dirty.
func (l *loop) need(path string, n needs) {
	if l.syncing {
		l.mark(path, n)
	} else {
		l.add(path, n)
	}
}

// step takes a step of the cache if the batch is read, and begins the next batch.
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

// begin begins a batch of the paths that became dirty before the newest answer. If
// there are hot paths to read, the batch begins with a multiRead of them. If all dirty
// paths became dirty since the newest answer, the batch has all of them and no target.
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

// includeAll adds the paths that became dirty before the target to the batch.
func (l *loop) includeAll() {
	for path, d := range l.dirty {
		if d.first < l.target {
			l.include(path, d)
		}
	}
}

// clearBatch forgets the paths of a batch that is read. After a large batch, such as
// the first one, it also frees the memory of the maps.
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

// keptPaths is how many entries a map may have for its memory to be reused.
const keptPaths = 1024

// cleared empties a map, or returns a new one if the map was large.
func cleared[V any](m map[string]V) map[string]V {
	if len(m) > keptPaths {
		return map[string]V{}
	}
	clear(m)
	return m
}

// include adds a dirty path to the batch.
func (l *loop) include(path string, d dirt) {
	l.add(path, d.needs)
	l.settle(path, d)
}

// settle is called when the batch has taken over a dirty path. The path stays dirty if
// there was an event after the target, too. The first such event may have come right
// after the target.
func (l *loop) settle(path string, d dirt) {
	delete(l.dirty, path)
	if d.last >= l.target && d.last != never {
		l.dirty[path] = dirt{needs: d.needs, first: max(d.first, l.target), last: d.last}
	}
}

// isAsOf reports whether the loop's tree equals the server's tree as of the newest
// answer: no path is dirty, except by later changes. An answer and the events after it
// often arrive together, above all on a single processor.
func (l *loop) isAsOf(newest int64) bool {
	for _, d := range l.dirty {
		if d.first < newest {
			return false
		}
	}
	return true
}

// hasTarget reports whether the batch has a target and has read something.
func (l *loop) hasTarget() bool {
	return l.target != noTarget && len(l.members)+len(l.together) > 0
}

// inTheWay returns the paths that may differ from the server's tree at the target. Paths
// that were read together are as of the target.
func (l *loop) inTheWay() (paths []string) {
	for path, d := range l.dirty {
		createdSince := d.born && d.first >= l.target
		if _, asOfTarget := l.together[path]; !asOfTarget && !createdSince && l.tree.node(path) == nil {
			paths = append(paths, path) // the node may have existed at the target, and be missing from a later list
		}
	}
	for path := range l.members {
		if _, dirty := l.dirty[path]; !dirty {
			continue
		}
		n := l.tree.node(path)
		if n == nil || max(n.Stat.Czxid, n.Stat.Mzxid) > l.target {
			paths = append(paths, path)
		}
	}
	return paths
}

// stepTo publishes the loop's tree as of a transaction.
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
	if !l.behind && !l.c.isSynced() && l.c.wasFilled() {
		l.tellUpToDate()
	}
	l.c.publish(&l.tree, zxid, !l.behind)
	l.caughtUpWith(l.begun)
}

// eventsAreWrong reports, before a step to a transaction, whether the server sent events
// of the root that did not happen to the root: ClickHouse Keeper sends the path of a
// recursive watch in place of the node's path. A root with the same Czxid was neither
// created nor deleted, and its version counts the writes.
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

// retry reads unreadable nodes again after growing pauses. The loop has one for nodes
// whose reads failed, and one with longer pauses for nodes that the server refuses to
// show. No event says that a read would succeed now: a change of an ACL sends none.
type retry struct {
	pauses  pauses.Growing
	pausing bool // a pause is running
}

// retryFor returns the retry of a node that could not be read because of err. A tree
// may have many nodes that the server refuses to show, which are read rarely. The root
// is a single node, without which the cache is empty, and is read more often.
func (l *loop) retryFor(path string, err error) *retry {
	mayPass := follow.Judge(err) == follow.Failure || path == l.c.scope.root
	if mayPass && !reason.Is(err, framework.ErrAnswerTooLarge) {
		return &l.afterFailure
	}
	return &l.afterRefusal // the request fails in the same way until the node or its ACL is changed
}

// waitFor begins a pause, unless one is running.
func (l *loop) waitFor(a *retry) {
	if a.pausing {
		return
	}
	a.pausing = true
	l.readers.Go(func() {
		if follow.Pause(l.ctx, l.c.client, &a.pauses) == nil {
			l.deliver(result{retry: a})
		}
	})
}

// readAgain reads the nodes of a retry. Nodes that fail once more wait for the next
// pause to end.
func (l *loop) readAgain(a *retry) {
	a.pausing = false
	for path, err := range l.tree.unreadable {
		if l.retryFor(path, err) == a {
			l.need(path, needNode|needScan)
		}
	}
}
