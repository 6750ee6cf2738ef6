package cache

import (
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

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
