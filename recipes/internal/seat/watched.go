package seat

import (
	"bytes"
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// watched is what a seat that holds the lock knows about its nodes: whether another
// client has deleted a node, or has asked for the lock. The seat's mutex protects it.
//
// A goroutine runs only while a node is read, because a client may hold thousands of
// locks.
type watched struct {
	delay *time.Timer // starts the watch; nil if the contender has set it
	set   []heard     // one for each node
	begun bool
	ended bool // the holder deletes or keeps the nodes
	kept  bool // the nodes stay, and another seat watches them

	asked    signal // a request for the lock has arrived
	byOthers signal // the request came from another client
}

// heard is a watch, with a function that detaches the seat from it. Several objects of
// the client may share a watch at the server. The watch then lives on, and would keep the
// seat in memory.
type heard struct {
	watch  *framework.Watch // may be nil
	forget func() bool
}

// watchAfter is how long a lock is held before its holder watches its nodes. So a short
// critical section does not pay for a watch.
const watchAfter = time.Second

// beginWatch starts watching the nodes after a second, or at once with the contender's
// watch, which costs no request.
func (s *Seat) beginWatch(own *ownWatch) {
	s.mu.Lock()
	if s.watched.begun = own != nil; own != nil {
		s.watched.set = make([]heard, 1)
	} else {
		s.watched.delay = time.AfterFunc(watchAfter, s.Watch)
	}
	s.mu.Unlock()
	switch {
	case own != nil:
		s.heed(0, own.data, own.watch)
	case s.revocable:
		s.Watch()
	}
}

// Watch starts watching the nodes at once, instead of after a second.
func (s *Seat) Watch() {
	s.mu.Lock()
	w := &s.watched
	begins := !w.begun && !w.ended
	if begins {
		w.begun, w.set = true, make([]heard, len(s.nodes))
	}
	s.mu.Unlock()
	for i := range s.nodes {
		if begins {
			s.startWatch(i)
		}
	}
}

// unwatch stops watching nodes that are about to be deleted, so that their deletion is
// not a loss. The watches stay at the server: the deletion triggers them, which saves a
// request.
func (s *Seat) unwatch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endWatchLocked()
}

func (s *Seat) endWatchLocked() {
	if s.watched.delay != nil {
		s.watched.delay.Stop()
	}
	for _, h := range s.watched.set {
		if h.watch != nil {
			h.forget()
		}
	}
	s.watched.ended = true
}

// keepNodes is unwatch for nodes that stay. It removes their watches.
func (s *Seat) keepNodes() {
	s.mu.Lock()
	s.endWatchLocked()
	set := s.watched.set
	s.watched.kept, s.watched.set = true, nil
	s.mu.Unlock()
	for _, h := range set {
		if h.watch != nil {
			h.watch.Stop()
		}
	}
}

// startWatch reads a node, and re-reads it after each change.
func (s *Seat) startWatch(i int) {
	framework.Extend(s.client).Go(func(ctx context.Context) { s.watchNode(ctx, i) })
}

// watchNode reads a node until there is a watch on it. ctx ends with the client. When the
// session ends, its watches may fire before the seat is lost. A holder that may not read
// its node keeps its lock, and keeps trying. The same is true for a holder whose
// credentials are refused, because the session may survive that.
func (s *Seat) watchNode(ctx context.Context, i int) {
	recovery := follow.Recovery{Client: s.client, Survives: func(err error) bool {
		return framework.IsRefusal(err) || follow.RefusedCredentials(err)
	}}
	for s.mayWatch() {
		data, _, watch, err := s.client.GetW(ctx, s.nodes[i].Path)
		switch {
		case err == nil:
			s.heed(i, data, watch)
			return
		case reason.Is(err, zk.ErrNoNode):
			s.NodeDeleted()
		default:
			if recovery.Wait(s.session().Context(), err) != nil {
				return
			}
		}
	}
}

// mayWatch reports whether the nodes belong to the seat and are trusted. If mayWatch
// returns false, a missing node may be due to the end of the session.
func (s *Seat) mayWatch() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isAliveLocked() && s.session().Context().Err() == nil
}

// heed checks the data of a node, and re-reads the node when the watch fires. The watch
// fires for any change, and only the next read tells which. The event of a deletion is
// not enough to end a hold: the end of the session deletes the node, too, and a server
// may send that event before it closes the connection. The read then reports the loss of
// the session.
func (s *Seat) heed(i int, data []byte, watch *framework.Watch) {
	if IsRevocation(data) {
		s.request(true)
	}
	s.mu.Lock()
	kept := s.watched.kept
	if !kept {
		s.watched.set[i] = heard{watch, watch.AfterFunc(func() {
			watch.Stop()
			if s.mayWatch() {
				s.startWatch(i)
			}
		})}
	}
	s.mu.Unlock()
	if kept {
		watch.Stop()
	}
}

// RevocationMarker is the data that Curator's Revoker writes into a holder's node to ask
// for the lock (LockInternals.REVOKE_MESSAGE).
var RevocationMarker = []byte("__REVOKE__")

// IsRevocation reports whether a node's data is a request to give the lock up.
func IsRevocation(data []byte) bool { return bytes.Equal(data, RevocationMarker) }

// Request asks the holders to give the lock up, like a request through the server. A
// revocable seat becomes Lost.
func (s *Seat) Request() { s.request(false) }

// request handles a request for the lock. The tracer receives it before the holder does,
// because the holder's release would be the last event. A parked seat is unparked.
func (s *Seat) request(byOthers bool) {
	s.mu.Lock()
	w := &s.watched
	for _, h := range s.holds {
		h.trace.Revoked()
	}
	w.asked.happen()
	if byOthers {
		w.byOthers.happen()
	}
	s.mu.Unlock()
	switch {
	case s.revocable:
		s.lose(ErrRevoked)
	case s.lane != nil:
		unpark(s)
	}
}

// isRequested reports whether the lock was requested.
func (s *Seat) isRequested() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watched.asked.hasHappened()
}

// Requested is closed when the lock is requested. The first call starts the watch on the
// nodes, and also notices earlier requests.
func (s *Seat) Requested() <-chan struct{} {
	s.Watch()
	return s.when(&s.watched.asked).Done()
}

// RequestedByOthers is Requested without the calls of Request in this process.
func (s *Seat) RequestedByOthers() <-chan struct{} {
	s.Watch()
	return s.when(&s.watched.byOthers).Done()
}

// when returns a context that ends with a signal of the seat.
func (s *Seat) when(what *signal) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return what.context()
}

// ownWatch is a contender's watch on its own node, with the node's data when the watch
// was set.
//
// Every node is deleted in the end, which triggers the watch and saves a request to
// remove it. Only the watch of a node that stays is removed.
type ownWatch struct {
	data  []byte
	watch *framework.Watch
}

// isSet reports whether the watch exists and has not fired.
func (w *ownWatch) isSet() bool { return w != nil && !isDone(w.watch) }

// changed is closed when the node has changed. It is nil if there is no watch.
func (w *ownWatch) changed() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.watch.Done()
}

// signal is an event that happens once. Few goroutines wait for a signal, so the context
// is created only when a goroutine needs the context, or when the event has happened. The
// owner's mutex protects it.
type signal struct {
	ctx context.Context // ends when the event happens
	end context.CancelFunc
}

func (s *signal) happen() {
	if s.end != nil {
		s.end()
	} else {
		s.ctx = Ended
	}
}

func (s *signal) hasHappened() bool { return s.ctx != nil && s.ctx.Err() != nil }

// context returns a context that ends when the event happens.
func (s *signal) context() context.Context {
	if s.ctx == nil {
		s.ctx, s.end = context.WithCancel(context.Background())
	}
	return s.ctx
}
