package zktest

import (
	"slices"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// heldRequest is a request that its server carries out later.
type heldRequest struct {
	x     *exchange
	alarm *alarm
	due   bool // the time to carry it out has come
}

// holdLocked carries the request out after the duration d. The connection ends before that,
// so the client gets no answer. A handshake is not carried out, because no client would use
// the session.
func (x *exchange) holdLocked(d time.Duration) {
	if x.conn.sess == nil {
		return
	}
	s, h := x.srv, &heldRequest{x: x}
	h.alarm = s.afterLocked(d, func() {
		s.mu.Lock()
		defer s.unlock()
		h.due = true
		s.carryOutHeldLocked()
	})
	s.held = append(s.held, h)
}

// carryOutHeldLocked carries out the requests that are due. A paused server waits until it
// continues. A server that cannot reach its leader waits for the leader: the connection
// between the two keeps the requests.
func (s *Server) carryOutHeldLocked() {
	for !s.paused && s.writableLocked() {
		i := slices.IndexFunc(s.held, func(h *heldRequest) bool { return h.due })
		if i < 0 {
			return
		}
		h := s.held[i]
		s.held = slices.Delete(s.held, i, i+1)
		h.x.carryOutLateLocked()
	}
}

// forgetHeldLocked is called when a server's process ends, or when the server leaves its
// leader. Requests that the server has not passed on are lost.
func (s *Server) forgetHeldLocked() {
	for _, h := range s.held {
		h.alarm.stop()
	}
	s.held = nil
}

func (x *exchange) carryOutLateLocked() {
	x.req.Err, x.req.Processed = x.runHeldLocked(), true
	x.req.Zxid = x.srv.madeZxidLocked()
	x.logLocked()
}

// runHeldLocked carries out a late request at the leader. The leader does not know the
// connection, but it knows the server to which the session was last connected
// (PrepRequestProcessor, SessionTracker.checkSession).
func (x *exchange) runHeldLocked() wire.Code {
	sess := x.conn.sess
	switch {
	case x.srv.sessions[sess.id] != sess:
		x.srv.takeZxidLocked()
		return wire.ErrSessionExpired
	case sess.owner != x.conn:
		return wire.ErrSessionMoved
	case !x.forLeaderLocked():
		return wire.OK // the request changes nothing, and the client gets no answer
	}
	return x.op.runLocked(x, wire.NewReply())
}
