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

// answered notes the server's answer to addWatch. It comes in order with the
// events. It reports whether the watch must be asked for again.
func (p *Persistent) answered(w *persistentWatch, connection uint64, recursive bool, code int32) (again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isCurrentLocked(w, connection) {
		return false
	}
	w.asked--
	if code != proto.CodeOK {
		again = p.refusedLocked(w, recursive, code)
		w.tell() // nobody waits for the pause
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

// refusedLocked ends a watch that the server will not set. A recursive watch that is
// refused ends the readers that asked for it; the others go on with a watch of the node
// alone. So does a standard watch that rides on it, if the server has the watch of the
// node. If the server only has too much to do now, a watch without readers ends.
// refusedLocked reports whether the client must ask for a watch again: for the watch of
// the node, or for the same watch later.
func (p *Persistent) refusedLocked(w *persistentWatch, recursive bool, code int32) (again bool) {
	later, err := p.session.owner.Judge(code)
	switch {
	case w.armedRecursive || w.armed && !recursive: // the server has it since an earlier request
		return false
	case later && len(w.readers) == 0: // a standard watch on its path does without
		switch {
		case w.armed: // the one of the node alone is there
			p.endRecursiveLocked(w, err)
		case w.asked == 0:
			p.endLocked(w, err)
		}
		return false
	case later:
		w.troubledLocked(err)
		return true
	case w.recursive && !recursive: // the answer to the request behind this one decides
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

// troubledLocked notes why the watch is not set yet, for waiting readers.
func (w *persistentWatch) troubledLocked(err error) {
	w.trouble = err
	for r := range w.readers {
		r.wake()
	}
}

// lost notes that the connection has ended with a request for the watch. The next
// connection sets it. Until then, its readers know why it is not there.
func (p *Persistent) lost(w *persistentWatch, connection uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isCurrentLocked(w, connection) {
		w.troubledLocked(fmt.Errorf("%w with the request for the watch under way", zk.ErrConnectionClosed))
	}
}

// hasReadersOfNode reports whether a reader did not ask for a recursive watch.
func (w *persistentWatch) hasReadersOfNode() bool {
	for r := range w.readers {
		if !r.recursive {
			return true
		}
	}
	return false
}

// endRecursiveLocked ends the readers that asked for a recursive watch.
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

// removeLeftLocked takes back what was left to a watch that has ended.
func (p *Persistent) removeLeftLocked(w *persistentWatch) {
	for _, table := range []transport.Table{transport.Data, transport.Children} {
		key := transport.Watch{Path: w.path, Table: table}
		if w.left && p.session.shared[key] == nil {
			p.session.link.RemoveWatch(key)
		}
	}
}

// busyPause is how long a server that has too much to do is left alone.
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
