package cache

import (
	"log/slog"
	"maps"
	"math"
	"time"

	"github.com/gocurator/curator/internal/semconv"
)

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
			if l.readsTogether() {
				l.hot[path] = restsToCool
			}
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
	if path == l.c.scope.root {
		l.countRootEvents(math.MaxInt64)
	}
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
	if l.eventsAreWrong() {
		l.cancel(ErrWrongEvents)
		return
	}
	l.rootTold, l.rootWas = told{}, l.tree.node(l.c.scope.root)
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

// countRootEvents counts the events of the root that are about changes before a
// transaction. The root's copy has those changes, or will have them.
func (l *loop) countRootEvents(before int64) {
	var later []rootEvents
	for _, e := range l.rootEvents {
		if e.after < before {
			l.rootTold.sets += e.sets
			l.rootTold.turns += e.turns
		} else {
			later = append(later, e)
		}
	}
	l.rootEvents = later
}

// eventsAreWrong reports whether there were events of the root that have not
// happened to it: ClickHouse Keeper sends the path of a recursive watch in place
// of the path of the node. A root that is the same node was neither created nor
// deleted, and its version counts how often it was set.
func (l *loop) eventsAreWrong() bool {
	now := l.tree.node(l.c.scope.root)
	if l.rootWas == nil || now == nil || now.Stat.Czxid != l.rootWas.Stat.Czxid {
		return false
	}
	return l.rootTold.turns > 0 || l.rootTold.sets > int(now.Stat.Version-l.rootWas.Stat.Version)
}
