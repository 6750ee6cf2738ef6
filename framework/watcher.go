package framework

import (
	"context"
	"iter"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/state"
)

// WatchEvent is an event of a Watcher.
type WatchEvent struct {
	// Reset means that events may be missing: read the nodes again. Every later change
	// has an event. In a Reset, Type, Zxid and After are zero, and Path is the
	// Watcher's path.
	Reset bool

	// Type is what happened to the node at Path: zk.EventNodeCreated,
	// zk.EventNodeDeleted, zk.EventNodeDataChanged, or
	// zk.EventNodeChildrenChanged if a child was created or deleted. Path belongs to the
	// view that the Watcher was opened on.
	Type zk.EventType
	Path string

	// Zxid is the transaction of the change, or 0 from a server before 3.9, which does
	// not send it.
	Zxid int64

	// After is a transaction before the change: the newest zxid that any answer had when
	// the event arrived. The change is not later than the zxid of the next answer with a
	// newer zxid.
	After int64
}

// WatcherOption configures a Watcher.
type WatcherOption func(*watcherConfig)

type watcherConfig struct{ recursive bool }

// WithRecursion makes a Watcher report its node and everything below it. Each created,
// changed or deleted node has one event, and there are no events for changed children.
// Without WithRecursion, a Watcher reports changes of its node, and children that are
// created or deleted.
func WithRecursion() WatcherOption {
	return func(c *watcherConfig) { c.recursive = true }
}

// Watcher reads the events of a persistent watch, which continues after each event, and
// after a lost connection or session. The node need not exist. A Watcher is for one
// goroutine at a time, except for Close, and must be closed. The zero Watcher cannot be
// used; NewWatcher makes one.
//
// Events arrive in the order in which the server sends them. When the client has received
// an answer, all events before that answer can be read. So if a program reads a node, and
// then finds no event to read, the node was unchanged as of that answer.
//
// A Watcher returns an event for every change, or a Reset instead. A Reset comes
//
//   - after each reconnect, in the same session or in a new one, because servers do not
//     send the events of the time in between;
//   - instead of all unread events, if more than 1024 are unread. So a slow reader never
//     delays the client.
//
// ZooKeeper 3.8.4, 3.9.2 and later versions send no event of the deletion of a node that
// the client may no longer read. A Watcher reports such a deletion with the next Reset; a
// [Watch] reports it some minutes later.
//
// All Watchers of a client for one path share one watch at the server, which the client
// removes when the last Watcher is closed. Once a Watcher has asked for recursion, the
// watch of that path stays recursive until then.
type Watcher struct {
	view   *Client
	reader *watches.Reader
}

// Watch returns the events of a persistent watch until ctx ends. Watch sets the watch when
// the loop begins. The first event is a Reset, at which the watch is set: the loop
// receives every change after what it reads then. See Watcher for later Resets.
//
//	for ev, err := range client.Watch(ctx, "/config", framework.WithRecursion()) {
//		if err != nil {
//			return err
//		}
//		if ev.Reset {
//			reloadEverything()
//		} else {
//			reload(ev.Path)
//		}
//	}
//
// Watch waits for a connection until ctx ends. An error is the last element. It is an
// *OpError that matches one of these:
//
//   - ErrClosed;
//   - zk.ErrInvalidPath, or zk.ErrBadArguments for a nil option;
//   - ErrRequestTooLarge for a path that is longer than a request may be;
//   - ErrUnimplemented from a server before 3.6, which has no persistent watches; use
//     GetW, ExistsW and ChildrenW there;
//   - ErrSessionLost if ctx belongs to a lost session (see Client.InSession), but did not
//     end with it;
//   - zk.ErrNoAuth or another refusal of the server.
func (c *Client) Watch(ctx context.Context, path string, opts ...WatcherOption) iter.Seq2[WatchEvent, error] {
	return func(yield func(WatchEvent, error) bool) {
		w, err := c.openPatiently(ctx, path, opts)
		if ctx.Err() != nil && w == nil {
			return
		}
		if err != nil {
			yield(WatchEvent{}, err)
			return
		}
		defer w.Close()
		if !yield(WatchEvent{Reset: true, Path: path}, nil) {
			return
		}
		for {
			ev, err := w.Next(ctx)
			if ctx.Err() != nil {
				return
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// openPatiently calls NewWatcher until ctx ends. Between attempts it waits for a
// connection, because an attempt without a connection may fail at once. A context that is
// bound to a session or a connection may stay alive when these have ended, but then
// another attempt cannot succeed.
func (c *Client) openPatiently(ctx context.Context, path string, opts []WatcherOption) (*Watcher, error) {
	for {
		w, err := c.NewWatcher(ctx, path, opts...)
		if ctx.Err() != nil || !IsConnectionError(err) || reason.Is(err, zk.ErrAuthFailed) || c.isCutOff(ctx) {
			return w, err
		}
		if pinned := c.pinOf(ctx); pinned != nil && pinned.ctx.Err() != nil { // the caller accepts no other session
			return nil, &OpError{"watch", path, pinned.lostPin()}
		}
		if _, err := c.connected(ctx, nil); err != nil {
			return nil, &OpError{"watch", path, err}
		}
	}
}

// addWatchOverhead is the length of a request for a watch without the path: xid, opcode,
// length of the path, and mode. The client checks the length first, because a server
// closes the connection on a request that is too long, and again when a reconnect repeats
// the request.
const addWatchOverhead = 4 * 4

// NewWatcher sets a persistent watch, and returns when the server has set it, so that every
// later change has an event. NewWatcher waits for a connection like other operations. It
// returns the errors of Watch, and ErrNotConnected.
func (c *Client) NewWatcher(ctx context.Context, path string, opts ...WatcherOption) (*Watcher, error) {
	var cfg watcherConfig
	if err := apply(&cfg, opts); err != nil {
		return nil, &OpError{"watch", path, err}
	}
	if len(c.full(path))+addWatchOverhead > c.cfg.maxRequest {
		return nil, &OpError{"watch", path, ErrRequestTooLarge}
	}
	var w *Watcher
	err := c.do(ctx, "watch", path, nil, func(ctx context.Context, s *Session) error {
		reader, err := c.persistent.Open(s.watches, c.full(path), cfg.recursive)
		if err != nil {
			return err
		}
		next := &Watcher{c, reader}
		if err := next.awaitArmed(ctx, s); err != nil {
			next.Close()
			return err
		}
		w = next
		return nil
	})
	return w, err
}

// awaitArmed waits until the server has set the watch, and drops the Reset that reports it.
// If the connection ends, awaitArmed waits for the next one, as every operation does.
func (w *Watcher) awaitArmed(ctx context.Context, s *Session) error {
	var last lastError
	for {
		connection := s.Trusted(state.StandardPolicy)
		switch ev, some, err := w.poll(); {
		case err != nil:
			return err
		case some && ev.Reset && s.ctx.Err() != nil: // this Reset may belong to the next session
			return s.sessionError(zk.ErrNoServer)
		case some && ev.Reset:
			return nil
		case some:
			continue
		}
		w.noteError(ctx, &last)
		select {
		case <-w.Changed():
		case <-ctx.Done():
			return last.named(ctx, reason.OfContext(ctx))
		case <-s.ctx.Done():
			return s.sessionError(zk.ErrNoServer)
		case <-connection.Done(): // the next one sets the watch
			if err := s.goOn(ctx); err != nil {
				w.noteError(ctx, &last)
				return last.named(ctx, err)
			}
		}
	}
}

// noteError records why the server has not set the watch yet.
func (w *Watcher) noteError(ctx context.Context, last *lastError) {
	if err := w.reader.LastError(); err != nil {
		last.note(ctx, "watch", w.localPath(), err)
	}
}

// Next waits for the next event. It returns the error of ctx, or the *OpError that has
// ended the watch: ErrClosed, or a refusal of the server.
func (w *Watcher) Next(ctx context.Context) (WatchEvent, error) {
	for {
		if ev, some, err := w.Poll(); some || err != nil {
			return ev, err
		}
		select {
		case <-w.Changed():
		case <-ctx.Done():
			return WatchEvent{}, reason.OfContext(ctx)
		case <-w.view.ctx.Done():
		}
	}
}

// Poll returns the next unread event, if any. An error is the *OpError that has ended the
// watch: ErrClosed, or a refusal of the server.
func (w *Watcher) Poll() (ev WatchEvent, ok bool, err error) {
	ev, ok, err = w.poll()
	if err != nil {
		err = &OpError{"watch", w.localPath(), err}
	}
	return ev, ok, err
}

// Changed returns a channel that delivers a value, at least once after each event, when Poll
// may return something new. The channel is for one goroutine.
func (w *Watcher) Changed() <-chan struct{} { return w.reader.Changed() }

// CaughtUp returns the newest zxid of any answer to this client in this session, if the
// caller has read all events up to that transaction. It returns false if events are
// unread, or while the watch is being set again. If a program makes any number of reads,
// and CaughtUp then returns true, all these reads are as of the returned transaction.
func (w *Watcher) CaughtUp() (zxid int64, ok bool) { return w.reader.CaughtUp() }

// LastError returns why the server has not set the watch, or not again after a reconnect:
// an *OpError with the server's last answer, for example that the server is too busy, or
// with the reason for no answer. LastError is nil if the server has set the watch, or has
// not had time to answer. The client keeps trying, and a Reset follows.
func (w *Watcher) LastError() error {
	err := w.reader.LastError()
	if err == nil {
		return nil
	}
	return &OpError{"watch", w.localPath(), err}
}

// Close ends the Watcher. With the last Watcher of a path, the client removes the watch from
// the server. Close may be called more than once.
func (w *Watcher) Close() { w.reader.Close() }

func (w *Watcher) localPath() string { return w.view.local(w.reader.Path()) }

func (w *Watcher) poll() (WatchEvent, bool, error) {
	ev, ok, err := w.reader.Poll()
	switch {
	case ok:
		ev.Path = w.view.local(ev.Path)
	case err == nil && w.view.ctx.Err() != nil:
		err = ErrClosed
	}
	return WatchEvent(ev), ok, err
}
