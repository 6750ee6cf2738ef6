package watches

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/pauses"
)

// answered records the server's answer to addWatch, which arrives in order with the
// events. It reports whether the client must ask for the watch again.
func (p *Persistent) answered(w *persistentWatch, connection uint64, recursive bool, code int32) (again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isCurrentLocked(w, connection) {
		return false
	}
	w.asked--
	if code != proto.CodeOK {
		again = p.refusedLocked(w, recursive, code)
		w.tell() // readers need not wait for the pause
		return again
	}
	w.armed, w.armedRecursive, w.trouble = true, w.armedRecursive || recursive, nil
	p.wantLocked(w, recursive) // an earlier request may have been refused meanwhile
	w.tell()
	for r := range w.readers {
		if !r.armed && w.serves(r) {
			r.armLocked()
		}
	}
	return false
}

func (p *Persistent) isCurrentLocked(w *persistentWatch, connection uint64) bool {
	return p.byPath[w.path] == w && p.connection == connection
}

// refusedLocked ends a watch that the server refuses to set. If the watch is recursive, only
// the readers that asked for recursion end. All others continue with a watch of the node
// alone. A standard watch that the refused watch carried continues, too, if the server
// already has the watch of the node. If the server is only too busy, a watch without readers
// ends. refusedLocked reports whether the client must ask for a watch again: for the watch
// of the node, or for the same watch later.
func (p *Persistent) refusedLocked(w *persistentWatch, recursive bool, code int32) (again bool) {
	later, err := p.session.owner.Judge(code)
	switch {
	case w.armedRecursive || w.armed && !recursive: // the server already has the watch from an earlier request
		return false
	case later && len(w.readers) == 0: // a standard watch on the path does not need it
		switch {
		case w.armed: // the server has the watch of the node alone
			p.endRecursiveLocked(w, err)
		case w.asked == 0:
			p.endLocked(w, err)
		}
		return false
	case later:
		w.troubledLocked(err)
		return true
	case w.recursive && !recursive: // the answer to the next request decides
		return false
	case recursive && (w.armed || w.hasReadersOfNode()):
		p.endRecursiveLocked(w, err)
		p.withdrawIfUnusedLocked(w.path)
		return !w.armed
	default:
		p.endLocked(w, err)
		return false
	}
}

// troubledLocked records why the watch is not set yet, for waiting readers.
func (w *persistentWatch) troubledLocked(err error) {
	w.trouble = err
	for r := range w.readers {
		r.wake()
	}
}

// lost records that the connection has ended with a request for the watch under way.
// The next connection sets the watch. Until then, its readers can see the reason for
// the delay.
func (p *Persistent) lost(w *persistentWatch, connection uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isCurrentLocked(w, connection) {
		w.troubledLocked(fmt.Errorf("%w with the request for the watch under way", zk.ErrConnectionClosed))
	}
}

// hasReadersOfNode reports whether there are readers that did not ask for recursion.
func (w *persistentWatch) hasReadersOfNode() bool {
	for r := range w.readers {
		if !r.recursive {
			return true
		}
	}
	return false
}

// endRecursiveLocked ends the readers that asked for recursion.
func (p *Persistent) endRecursiveLocked(w *persistentWatch, err error) {
	if w.recursive {
		w.recursive = false
		p.recursive--
	}
	for r := range w.readers {
		if r.recursive {
			r.failLocked(err)
			delete(w.readers, r)
		}
	}
}

func (p *Persistent) endLocked(w *persistentWatch, err error) {
	p.forgetLocked(w)
	p.removeLeftLocked(w)
	for r := range w.readers {
		r.failLocked(err)
	}
}

// removeLeftLocked removes a standard watch whose removal was left to the ended watch.
func (p *Persistent) removeLeftLocked(w *persistentWatch) {
	for _, table := range []transport.Table{transport.Data, transport.Children} {
		key := transport.Watch{Path: w.path, Table: table}
		if w.left && p.session.shared[key] == nil {
			p.session.link.RemoveWatch(key)
		}
	}
}

// busyPause is the pause before the next request to a server that is too busy.
const busyPause = 100 * time.Millisecond

func (p *Persistent) setLater(ctx context.Context, w *persistentWatch, connection uint64) {
	_ = pauses.Sleep(ctx, busyPause)
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil || !p.isCurrentLocked(w, connection) || w.armed && (!w.recursive || w.armedRecursive) {
		return
	}
	if w.waiting = p.session.settingLocked(w.path); !w.waiting {
		p.session.link.AddWatch(p.requestLocked(w))
	}
}
