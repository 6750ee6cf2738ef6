package watches

import (
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/znode"
)

// firedLocked passes an event on to the readers. It leaves out an event that
// comes before the watch is confirmed: the readers will be told to look anyway.
func (p *Persistent) firedLocked(session *Session, ev transport.Event) {
	if session != p.session || len(p.byPath) == 0 {
		return
	}
	event := Event{
		Type: zk.EventType(ev.Type), Path: ev.Path, Zxid: max(ev.Zxid, 0),
		After: min(session.link.LastZxid(), session.lookingSince),
	}
	if w := p.byPath[ev.Path]; w != nil {
		w.firedLocked(event)
	}
	// A standard watch on a node below has its own events of the children. They
	// are no business of a recursive watch above it (ZOOKEEPER-4475).
	if p.recursive == 0 || event.Type == zk.EventNodeChildrenChanged {
		return
	}
	for path := ev.Path; path != "/"; {
		parent, _ := znode.Split(path)
		if w := p.byPath[parent]; w != nil && w.recursive {
			w.firedBelowLocked(event, path == ev.Path)
		}
		path = parent
	}
}

// firedLocked is about an event of the watch's own node. A recursive watch
// knows of the children by their own events, and servers since 3.9 may tell
// both.
func (w *persistentWatch) firedLocked(event Event) {
	ofChildren := event.Type == zk.EventNodeChildrenChanged
	for r := range w.readers {
		if !ofChildren || !r.recursive && !w.armedRecursive {
			r.pushLocked(event)
		}
	}
}

// firedBelowLocked is about an event of a node below. A child that comes or
// goes is an event for the readers that are not recursive.
func (w *persistentWatch) firedBelowLocked(event Event, child bool) {
	for r := range w.readers {
		switch {
		case r.recursive:
			r.pushLocked(event)
		case child && event.Type != zk.EventNodeDataChanged:
			children := event
			children.Type, children.Path = zk.EventNodeChildrenChanged, w.path
			r.pushLocked(children)
		}
	}
}

// childrenOfLocked returns the path whose standard watch for children fires
// with an event of a child: only where a recursive watch may have taken the
// place of that watch.
func (p *Persistent) childrenOfLocked(ev transport.Event) (parent string, ok bool) {
	created := []zk.EventType{zk.EventNodeCreated, zk.EventNodeDeleted}
	if p.recursive == 0 || ev.Path == "/" || !slices.Contains(created, zk.EventType(ev.Type)) {
		return "", false
	}
	parent, _ = znode.Split(ev.Path)
	w := p.byPath[parent]
	return parent, w != nil && w.recursive
}
