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

// watched is what a seat knows of its nodes while it holds the lock: whether
// somebody else deletes one of them, or asks for the lock. It is protected by the
// seat's mutex.
//
// A goroutine runs only while a node is read: a client may hold thousands of
// locks.
type watched struct {
	delay *time.Timer // begins the watch; nil if the contender has set it
	set   []heard     // one of each node
	begun bool
	ended bool // the nodes are given up, or not trusted any more
	kept  bool // the nodes stay, and another seat watches them

	asked    signal // somebody asks for the lock
	byOthers signal // somebody asks by way of the server
}

// heard is a watch, with the function that has nothing called any more when it
// fires. Others of the client may have the same watch at the server, so that it
// goes on, and would keep what it calls, and with that the seat.
type heard struct {
	watch  *framework.Watch // may be nil
	forget func() bool
}

// watchAfter is how long a lock is held before its holder watches its own
// nodes. So a short critical section does not pay for a watch.
const watchAfter = time.Second

// beginWatch has the nodes watched after a second, or by the contender's watch, which
// costs no request.
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

// Watch begins to watch the nodes at once, instead of after a second.
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
			s.look(i)
		}
	}
}

// Unwatch stops watching nodes that are deleted next: their deletion is no loss then.
// It leaves their watches alone: the deletion makes them fire at the server, which saves
// a request.
func (s *Seat) Unwatch() {
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

// keepNodes is Unwatch for nodes that stay. It removes their watches.
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

// look reads a node, and does so again after each change.
func (s *Seat) look(i int) {
	framework.Extend(s.client).Go(func(ctx context.Context) { s.watch(ctx, i) })
}

// watch reads a node until there is a watch on it. ctx ends with the client. When
// the session ends, its watches may say so before the seat is lost. A holder
// that may not read its own node keeps its lock, and goes on trying. So does one
// whose credentials are refused: the session may survive that.
func (s *Seat) watch(ctx context.Context, i int) {
	recovery := follow.Recovery{Client: s.client, Outlasts: func(err error) bool {
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

// mayWatch reports whether the nodes are the seat's, and trusted. If not, one of them
// may be gone because of the session's end.
func (s *Seat) mayWatch() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isAliveLocked() && s.session().Context().Err() == nil
}

// heed looks at the data of a node, and has the node read again when the watch fires. That
// it does for any change; the next read tells which. The event of a deletion is not enough
// to end a hold: the end of the session deletes the node, too, and a server may send that
// event before it hangs up. The read tells that the session is lost.
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
				s.look(i)
			}
		})}
	}
	s.mu.Unlock()
	if kept {
		watch.Stop()
	}
}

// RevocationMarker is what Curator's Revoker writes into the node of a holder
// to ask for the lock (LockInternals.REVOKE_MESSAGE).
var RevocationMarker = []byte("__REVOKE__")

// IsRevocation reports whether a node's data asks its owner to give the lock
// up.
func IsRevocation(data []byte) bool { return bytes.Equal(data, RevocationMarker) }

// Request asks the holders to give the lock up, like a request through the server.
// That makes a revocable seat Lost.
func (s *Seat) Request() { s.request(false) }

// request notes a request. The tracer learns of it before the holder, whose release would
// be the last event that it receives. A seat that is idle is given up.
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

// isRequested reports whether somebody has asked for the lock.
func (s *Seat) isRequested() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watched.asked.hasHappened()
}

// Requested is closed when somebody has asked for the lock. The first call
// begins to watch the nodes for that, and also notices earlier requests.
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

// ownWatch is the watch of a contender on its own node, with the data that the
// node had when the watch was set.
//
// It fires when the node is deleted, which saves a request, and every node is
// deleted in the end. Only the watch of a node that stays is stopped.
type ownWatch struct {
	data  []byte
	watch *framework.Watch
}

// isSet reports whether the watch is there, and nothing has happened to the node
// since it was set.
func (w *ownWatch) isSet() bool { return w != nil && !isDone(w.watch) }

// changed is closed when something has happened to the node. It is nil if there
// is no watch.
func (w *ownWatch) changed() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.watch.Done()
}

// signal is something that happens once. Few wait for it, so that it has a context only
// when somebody asks, or when it has happened. The mutex of its owner protects it.
type signal struct {
	ctx context.Context // ends then
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

// context returns a context that ends when it happens.
func (s *signal) context() context.Context {
	if s.ctx == nil {
		s.ctx, s.end = context.WithCancel(context.Background())
	}
	return s.ctx
}
