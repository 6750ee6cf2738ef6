package cache

import (
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
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

// told counts events of the root. A reset adds none.
type told struct {
	sets  int // changes of its data
	turns int // its creations and deletions
}

// rootEvents are events of the root that were told after the same answer.
type rootEvents struct {
	told
	after int64
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

// changed is told of a path that an event is about, and of the transaction that
// the event came after. While the server catches up, it may tell of changes that
// were seen before.
func (l *loop) changed(path string, n needs, after int64, event zk.EventType) {
	if !l.c.scope.has(path) {
		return
	}
	d := dirt{needs: n, first: after, last: after, born: event == zk.EventNodeCreated && !l.syncing}
	l.soil(path, d)
	if path == l.c.scope.root && !l.syncing {
		l.rootChanged(after, event)
	}
}

// rootChanged notes an event of the root.
func (l *loop) rootChanged(after int64, event zk.EventType) {
	if n := len(l.rootEvents); n == 0 || l.rootEvents[n-1].after != after {
		l.rootEvents = append(l.rootEvents, rootEvents{after: after})
	}
	e := &l.rootEvents[len(l.rootEvents)-1]
	if event == zk.EventNodeDataChanged {
		e.sets++
	} else {
		e.turns++
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
	case r.notOwn || isNoAnswer(r.err):
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
		path := childOf(r.path, name)
		_, inflight := l.inflight[path] // what it brings may be older than the list
		if (l.tree.nodes[path] == nil || inflight) && l.c.scope.has(path) {
			l.need(path, needNode|needScan)
		}
	}
	for name := range e.names {
		if _, there := names[name]; !there {
			if path := childOf(r.path, name); l.tree.knows(path) {
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

func (e *entry) copy() (known known) {
	known.listed = -1
	if e != nil {
		known.node, known.listed = e.node, e.listed
	}
	return known
}
