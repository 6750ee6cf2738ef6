package framework

import (
	"context"
	"iter"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/state"
)

// WatchEvent is what a Watcher is told.
type WatchEvent struct {
	// Reset means that there may have been changes of which nothing was told:
	// look for yourself. Every change after a Reset is told. Type, Zxid and
	// After are zero then, and Path is the Watcher's own.
	Reset bool

	// Type is what happened to the node at Path: zk.EventNodeCreated,
	// zk.EventNodeDeleted, zk.EventNodeDataChanged, or
	// zk.EventNodeChildrenChanged for a child that was created or deleted. The
	// path is one of the view that the Watcher was opened on.
	Type zk.EventType
	Path string

	// Zxid is the transaction of the change, or 0 if the server does not tell
	// it. Servers tell it since 3.9.
	Zxid int64

	// After is a transaction that the change is later than, whether the server
	// tells more or not: the newest that an answer had told of when the event
	// came. If a later answer tells of a newer one, then the change is no later
	// than that.
	After int64
}

// WatcherOption configures a Watcher.
type WatcherOption func(*watcherConfig)

type watcherConfig struct{ recursive bool }

// WithRecursion makes a Watcher hear of its node and of everything below it. Each
// node that is created, changed or deleted has an event of its own, and there
// is no event for changed children. Without it, a Watcher hears of its own node
// and of children that are created or deleted.
func WithRecursion() WatcherOption {
	return func(c *watcherConfig) { c.recursive = true }
}

// Watcher reads the events of a persistent watch: one that goes on after an
// event, and after the connection or the session was lost. The node need not
// exist. It is for one goroutine at a time, apart from Close, and must be
// closed. The zero Watcher cannot be used: NewWatcher makes one.
//
// Events come in the order in which the server tells them. Once the client has
// received an answer, all events from before it are there to be read. So
// a program that has read a node, and then has no event to read, knows that it
// has seen the node as of that answer.
//
// A Watcher tells every change or a Reset in its place. There is a Reset:
//
//   - after each reconnect, in the same session or in a new one, because servers
//     do not tell what happened in between;
//   - in place of all unread events when there are more than 1024 of them. A slow
//     reader holds up nobody.
//
// Some servers check the permissions of events: 3.8.4, 3.9.2 and later ones.
// They do not tell of the deletion of a node that the client may no longer read,
// and neither does a Watcher before the next Reset. A [Watch] does, some minutes
// later.
//
// All Watchers of a client for one path share one watch on the server, which is
// withdrawn when the last one is closed. The watch of a path is recursive as
// long as there is a Watcher, once one of them has asked for that.
type Watcher struct {
	view   *Client
	reader *watches.Reader
}

// Watch returns the events of a persistent watch until ctx ends, and sets the
// watch when the loop begins. The first event is a Reset: the watch is set by
// then, so the loop sees every change that follows what it reads now. See
// Watcher for the later ones.
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
// Watch waits for a connection as long as ctx lives. An error is the last
// element. It is an *OpError that matches one of these:
//
//   - ErrClosed;
//   - zk.ErrInvalidPath, and zk.ErrBadArguments for an option that is nil;
//   - ErrRequestTooLarge for a path that is longer than a request may be;
//   - ErrUnimplemented: servers know persistent watches since 3.6. GetW, ExistsW and
//     ChildrenW work on older servers;
//   - ErrSessionLost if ctx is of a session that is over, see Client.InSession, and
//     was kept from ending with it;
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

// openPatiently is NewWatcher for a caller that does not give up while there is
// no connection. Between attempts it waits for one, because an attempt may fail at
// once without. A context that is bound to a session or a connection that is over
// does not end with it in any case, but waiting is in vain then.
func (c *Client) openPatiently(ctx context.Context, path string, opts []WatcherOption) (*Watcher, error) {
	for {
		w, err := c.NewWatcher(ctx, path, opts...)
		if ctx.Err() != nil || !IsConnectionError(err) || reason.Is(err, zk.ErrAuthFailed) || c.isCutOff(ctx) {
			return w, err
		}
		if pinned := c.pinOf(ctx); pinned != nil && pinned.ctx.Err() != nil { // no other session is for this caller
			return nil, &OpError{"watch", path, pinned.lostPin()}
		}
		if _, err := c.connected(ctx, nil); err != nil {
			return nil, &OpError{"watch", path, err}
		}
	}
}

// addWatchOverhead is the length of a request for a watch without its path: its
// number, its kind, the path's length and the mode. It is checked beforehand,
// because a server ends the connection for a longer request, also when a
// reconnect repeats it.
const addWatchOverhead = 4 * 4

// NewWatcher sets a persistent watch and returns when the server has it, so
// that every later change is told. It waits for a connection like other
// operations. The errors are Watch's, and ErrNotConnected.
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

// awaitArmed waits until the server has the watch, and leaves out the Reset
// that tells so. It waits for another connection as every operation does.
func (w *Watcher) awaitArmed(ctx context.Context, s *Session) error {
	var last lastError
	for {
		connection := s.Trusted(state.StandardPolicy)
		switch ev, some, err := w.poll(); {
		case err != nil:
			return err
		case some && ev.Reset && s.ctx.Err() != nil: // the next session may have set it
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

// noteError takes down why the server has not set the watch yet.
func (w *Watcher) noteError(ctx context.Context, last *lastError) {
	if err := w.reader.LastError(); err != nil {
		last.note(ctx, "watch", w.localPath(), err)
	}
}

// Next waits for the next event. The error is ctx's, or an *OpError that has
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

// Poll returns the next event if there is one to read. An error is an *OpError
// that has ended the watch: ErrClosed, or a refusal of the server.
func (w *Watcher) Poll() (ev WatchEvent, ok bool, err error) {
	ev, ok, err = w.poll()
	if err != nil {
		err = &OpError{"watch", w.localPath(), err}
	}
	return ev, ok, err
}

// Changed returns a channel that delivers a value when Poll may have something
// new. It does so at least once after each event, and is for one goroutine.
func (w *Watcher) Changed() <-chan struct{} { return w.reader.Changed() }

// CaughtUp returns a transaction up to which the reader has been told of
// everything, and false if there is something to read first, or if the watch is
// being set again. It is the newest transaction that an answer to this client
// has told of in this session. So a program that asks CaughtUp after its reads
// knows that they were all as of that transaction, however many it has made.
func (w *Watcher) CaughtUp() (zxid int64, ok bool) { return w.reader.CaughtUp() }

// LastError returns why the server has not set the watch, or not again after a
// reconnect: an *OpError with its last answer, such as that it has too much to do,
// or with why it gave none. It is nil if the server has the watch, or has had no
// time to answer. The client goes on to ask, and a Reset follows.
func (w *Watcher) LastError() error {
	err := w.reader.LastError()
	if err == nil {
		return nil
	}
	return &OpError{"watch", w.localPath(), err}
}

// Close ends the Watcher. When it was the last one for its path, the client
// withdraws the watch from the server. It may be called more than once.
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
