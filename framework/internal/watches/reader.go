package watches

import "github.com/go-zookeeper/zk"

// Event is an event of a Reader. See framework.WatchEvent for the fields.
type Event struct {
	Reset bool
	Type  zk.EventType
	Path  string
	Zxid  int64
	After int64
}

// maxUnread is how many events a Reader keeps.
const maxUnread = 1024

// Reader reads the events of a persistent watch.
type Reader struct {
	all       *Persistent
	recursive bool
	changed   chan struct{} // capacity 1: an event may be unread

	// Protected by all.mu.
	watch  *persistentWatch
	armed  bool // the server has the watch, on this connection
	unread []Event
	err    error // the reason for the end of the reader
}

// Path returns the path of the watch.
func (r *Reader) Path() string { return r.watch.path }

// Changed returns a channel that delivers a value when Poll may have something
// new.
func (r *Reader) Changed() <-chan struct{} { return r.changed }

// Poll returns the next unread event, if any. The error is the reason for the end of
// the reader.
func (r *Reader) Poll() (ev Event, ok bool, err error) {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if len(r.unread) == 0 {
		return ev, false, r.err
	}
	ev = r.unread[0]
	if r.unread = r.unread[1:]; len(r.unread) == 0 {
		r.unread = nil
	}
	return ev, true, nil
}

// LastError returns why the server has not set the watch yet, or nil.
func (r *Reader) LastError() error {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if r.armed {
		return nil
	}
	return r.watch.trouble
}

// CaughtUp returns the newest zxid of any answer, and false if events are unread or while the
// watch is being set again.
func (r *Reader) CaughtUp() (zxid int64, ok bool) {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if !r.armed || len(r.unread) > 0 {
		return 0, false
	}
	return r.all.session.link.LastZxid(), true
}

// Close ends the reader. With the last reader of a path, the watch is removed from the
// server.
func (r *Reader) Close() {
	p := r.all
	p.mu.Lock()
	defer p.mu.Unlock()
	r.failLocked(ErrStopped)
	delete(r.watch.readers, r)
	if p.byPath[r.watch.path] == r.watch {
		p.withdrawIfUnusedLocked(r.watch.path)
	}
}

// armLocked is called when every later change is certain to cause an event.
func (r *Reader) armLocked() {
	r.armed = true
	r.appendLocked(Event{Reset: true, Path: r.watch.path})
}

func (r *Reader) pushLocked(ev Event) {
	if r.armed {
		r.appendLocked(ev)
	}
}

func (r *Reader) appendLocked(ev Event) {
	if r.err != nil {
		return
	}
	if len(r.unread) >= maxUnread {
		r.unread = nil
		ev = Event{Reset: true, Path: r.watch.path}
	}
	r.unread = append(r.unread, ev)
	r.wake()
}

func (r *Reader) failLocked(err error) {
	if r.err == nil {
		r.err = err
	}
	r.armed = false
	r.wake()
}

func (r *Reader) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}
