package cache

import (
	"log/slog"
	"maps"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/semconv"
)

// step lets the cache take a step when the batch is read, and begins the next
// one.
func (l *loop) step() {
	if l.syncing || len(l.batch) > 0 || len(l.inflight) > 0 {
		return
	}
	now, ok := l.source.caughtUp()
	if !ok {
		return
	}
	switch {
	case len(l.dirty) == 0:
		l.stepTo(now)
	case len(l.members) > 0 && l.isAsOfTarget():
		l.stepTo(l.target)
	}
	if !l.syncing {
		l.begin(now)
	}
}

// begin begins a batch, if there is something to read, with what was dirty as
// of the newest answer. If there was nothing, because no answer has come since,
// the batch has everything and no target.
func (l *loop) begin(newest int64) {
	l.clearBatch()
	l.target, l.begun = newest, time.Now()
	for path, d := range l.dirty {
		if d.first < newest {
			l.include(path, d)
		}
	}
	if len(l.members) > 0 {
		return
	}
	l.target = noTarget
	for path, d := range l.dirty {
		d.last = never
		l.include(path, d)
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

// include takes a dirty path into the batch. If it was told of after the target
// as well, it stays dirty.
func (l *loop) include(path string, d dirt) {
	if path == l.c.scope.root {
		l.rootTold.add(d.told)
	}
	l.add(path, d.needs)
	delete(l.dirty, path)
	if d.last >= l.target && d.last != never {
		l.dirty[path] = dirt{needs: d.needs, first: d.last, last: d.last}
	}
}

// isAsOfTarget reports whether what was read in the batch is what the server
// had at the batch's target. Only a source that tells everything can say that:
// a standard watch that has fired tells no more before it is set again.
func (l *loop) isAsOfTarget() bool {
	if _, tellsAll := l.source.(*persistentSource); !tellsAll || l.target == noTarget {
		return false
	}
	for path, d := range l.dirty {
		createdSince := d.born && d.first >= l.target
		if l.tree.node(path) == nil && !createdSince {
			return false // it may have been there, and be gone from its parent's list
		}
	}
	for path := range l.members {
		if _, again := l.dirty[path]; !again {
			continue
		}
		n := l.tree.node(path)
		if n == nil || max(n.Stat.Czxid, n.Stat.Mzxid) > l.target {
			return false
		}
	}
	return true
}

// stepTo makes what was read what the cache has.
func (l *loop) stepTo(zxid int64) {
	if l.eventsAreWrong() {
		l.useStandardWatches("it tells of changes of the watch's path that are none")
		l.reset()
		return
	}
	l.rootTold, l.rootWas = told{}, l.tree.node(l.c.scope.root)
	was := l.c.Zxid()
	switch {
	case zxid == was && len(l.tree.touched) == 0 && l.c.isSynced() != l.behind:
		return
	case zxid < was:
		framework.Extend(l.c.client).Logger().Warn("zookeeper has gone back to an older state, and the cache with it",
			l.logPath(l.c.scope.root), slog.Int64(semconv.CacheZxid, zxid), slog.Int64(semconv.CacheZxidBefore, was))
	}
	if l.c.publish(&l.tree, zxid, !l.behind) {
		l.logResync()
	}
	l.caughtUpWith(l.begun)
}

// eventsAreWrong reports whether there were events of the root that have not
// happened to it: ClickHouse Keeper sends the path of a recursive watch in place
// of the path of the node. A root that is the same node was neither created nor
// deleted, and its version counts how often it was set.
func (l *loop) eventsAreWrong() bool {
	now := l.tree.node(l.c.scope.root)
	_, persistent := l.source.(*persistentSource)
	if !persistent || l.rootWas == nil || now == nil || now.Stat.Czxid != l.rootWas.Stat.Czxid {
		return false
	}
	return l.rootTold.turns > 0 || l.rootTold.sets > int(now.Stat.Version-l.rootWas.Stat.Version)
}
