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
	due   bool // its time has come
}

// holdLocked carries the request out when d has passed. Its connection ends
// before that, and nobody is told what has become of it. A handshake is lost: no
// session is taken up for a client that has gone.
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

// carryOutHeldLocked carries out what is due. A paused server does so when it
// goes on, and one whose leader is out of reach when the leader is back: the
// connection between them has kept it.
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

// forgetHeldLocked is for a server whose process ends, or its work for a
// leader: what it has not handed on is lost.
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

// runHeldLocked is what a leader does with a request that comes late. It does
// not know the connection, but which server took the session up last
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
		return wire.OK // it changes nothing, and there is nobody to answer
	}
	return x.op.runLocked(x, wire.NewReply())
}
