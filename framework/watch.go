package framework

import (
	"context"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/state"
)

// Watch waits for the next change of a node. It ends once: with an event, with the session,
// or by Stop. The zero Watch cannot be used; GetW, ExistsW and ChildrenW make one.
//
// An event of type zk.EventNotWatching means that the watch could not be set again after a
// reconnect, and that the node may have changed: read it again. The reason is that the
// connection ended while watches were being set again, or that the server refused the
// request. If this happens after each reconnect, because servers close the connection on a
// request for many watches, use WithMaxRequestSize.
//
// All Watches of a client for the same node and table (data and existence, or children)
// share one watch at the server. That watch survives reconnects in the same session, and
// is removed when the last Watch stops.
//
// A change that is undone while the client is disconnected causes no event: after a
// reconnect, a server checks only the node's current state.
//
// ZooKeeper 3.8.4, 3.9.2 and later versions send an event only to clients that may read the
// node at that moment. For other clients, the server drops the watch silently. So the client
// periodically sets watches again that are older than two minutes. A Watch then ends within
// five minutes of an unreported change, provided that the connection holds, that the server
// accepts the request, and that the client has no persistent watch (a Watcher) on the same
// path.
type Watch struct {
	shared  *watches.Watch
	session *Session
	view    *Client     // the view that has created the Watch
	stop    func() bool // from context.AfterFunc, or nil
	once    sync.Once
}

// Done is closed when the watch has fired, or its session has ended. The channel of a
// stopped watch may stay open. A caller that then calls neither Event nor Wait should call
// Stop; otherwise the watch stays in memory until its context ends.
func (w *Watch) Done() <-chan struct{} { return w.shared.Done() }

// AfterFunc calls f in a new goroutine when the watch has fired or its session has ended;
// if that has already happened, at once. AfterFunc serves callers that wait for one of many
// watches. As with context.AfterFunc, stop prevents the call of f, and reports whether it
// did. A caller that stops the watch must also call stop.
func (w *Watch) AfterFunc(f func()) (stop func() bool) {
	return w.shared.AfterFunc(f)
}

// Event waits until Done is closed and returns what happened: the event, or an
// error that matches ErrSessionLost, ErrClosed or ErrWatchStopped.
func (w *Watch) Event() (zk.Event, error) {
	<-w.Done()
	w.Stop() // so that the context, which may live long, does not keep the watch in memory
	ev, err := w.shared.Event()
	if err == nil {
		ev.Path = w.view.local(ev.Path)
	}
	return ev, err
}

// Wait waits until the watch is done and returns what Event returns, or ctx's
// error if ctx ends first.
func (w *Watch) Wait(ctx context.Context) (zk.Event, error) {
	select {
	case <-w.Done():
		ev, err := w.Event()
		if reason.Is(err, ErrWatchStopped) && ctx.Err() != nil { // stopped because the same context has ended
			err = reason.OfContext(ctx)
		}
		return ev, err
	case <-ctx.Done():
		return zk.Event{}, reason.OfContext(ctx)
	}
}

// InOrder reports whether the event arrived in the order of the changes and in time. It waits
// until the watch is done.
//
// InOrder returns true if the event arrived on the connection on which the watch was set, and
// the session can still be trusted. Then the watches of all earlier changes on this
// connection have fired, too. (A process that was suspended may receive an event before it
// notices the loss of its session.) Changes of one transaction, such as the deletions
// at the end of a session, have no order.
//
// InOrder returns false for an event after a reconnect, and for an event after the client has
// set its watches again, because a server sends such events in any order.
func (w *Watch) InOrder() bool {
	<-w.Done()
	return w.shared.InOrder() && w.session.IsInTime()
}

// Stop stops the Watch. Stop may be called more than once. The end of the Watch's context
// also stops it.
func (w *Watch) Stop() {
	w.once.Do(func() {
		if w.stop != nil {
			w.stop()
		}
		w.shared.Leave()
	})
}

// GetW is Get with a watch for the next change of the node's data or its
// deletion. There is no watch on a missing node. The watch is stopped when ctx
// ends.
func (c *Client) GetW(ctx context.Context, path string) ([]byte, *zk.Stat, *Watch, error) {
	r, w, err := watchedRead(ctx, c, "get", path, transport.Data, proto.GetData)
	return r.Data, r.Stat, w, err
}

// ExistsW is Exists with a watch for the node's creation, the next change of
// its data, or its deletion. The watch is stopped when ctx ends.
func (c *Client) ExistsW(ctx context.Context, path string) (bool, *zk.Stat, *Watch, error) {
	stat, w, err := watchedRead(ctx, c, "exists", path, transport.Data, proto.Exists)
	return stat != nil, stat, w, err
}

// ChildrenW is Children with a watch for the next creation or deletion of a
// child, or the node's own deletion. There is no watch on a missing node. The
// watch is stopped when ctx ends.
func (c *Client) ChildrenW(ctx context.Context, path string) ([]string, *zk.Stat, *Watch, error) {
	r, w, err := watchedRead(ctx, c, "children", path, transport.Children, proto.Children)
	return r.Names, r.Stat, w, err
}

// watchedRead reads a value and sets a watch no later than the read.
//
// For an exists request, a missing node is not an error: the value is then the zero
// value.
func watchedRead[T any](
	ctx context.Context, c *Client, op, path string,
	table transport.Table, read func(path string, watch bool) proto.Request[T],
) (v T, w *Watch, err error) {
	key := transport.Watch{Path: c.full(path), Table: table}
	err = c.do(ctx, op, path, nil, func(ctx context.Context, s *Session) error {
		for { // again, if a persistent watch on the path has ended meanwhile
			value, shared, err := readAndWatch(ctx, s, key, read)
			if err != nil {
				return err
			}
			if shared != nil {
				v, w = value, &Watch{shared: shared, session: s, view: c}
				return nil
			}
		}
	})
	if err != nil {
		var none T
		return none, nil, err
	}
	switch ctx.Done() {
	case nil, c.ctx.Done(): // the client ends its session, and that the watch
	default:
		w.stop = context.AfterFunc(ctx, func() { w.once.Do(w.shared.Leave) })
	}
	return v, w, nil
}

// readAndWatch makes the read once. It returns no watch if the caller must read again.
func readAndWatch[T any](
	ctx context.Context, s *Session, key transport.Watch, read func(path string, watch bool) proto.Request[T],
) (v T, w *watches.Watch, err error) {
	r, err := beginRead(ctx, s, key)
	if err != nil {
		return v, nil, err
	}
	q := read(key.Path, r.SetsWatch())
	p := newPending(s, q)
	p.Then = func(code int32, err error) {
		missing := err == nil && q.NoNodeIsAnswer && code == proto.CodeNoNode
		r.Answered(err == nil && (code == proto.CodeOK || missing), missing)
	}
	if err := start(ctx, s, &p.Call); err != nil {
		r.Answered(false, false)
		return v, nil, err
	}
	if v, err = p.await(ctx, nil); err != nil {
		r.Leave()
		return v, nil, err
	}
	return v, r.Watch(), nil
}

// beginRead waits until the read can be sent, if necessary for the next connection, as
// every operation does.
func beginRead(ctx context.Context, s *Session, key transport.Watch) (*watches.Read, error) {
	for ctx.Err() == nil {
		connection := s.Trusted(state.StandardPolicy)
		r, later, err := s.watches.BeginRead(key)
		if later == nil {
			return r, err
		}
		select {
		case <-later:
		case <-ctx.Done():
		case <-connection.Done(): // also if the session has ended
			if err := s.goOn(ctx); err != nil {
				return nil, err
			}
		}
	}
	return nil, notSent(ctx)
}
