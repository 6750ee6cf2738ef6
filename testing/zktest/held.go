package zktest

import (
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// holdLocked carries the request out when d has passed. Its connection ends
// before that, and nobody is told what has become of it. A handshake is lost: no
// session is taken up for a client that has gone.
func (x *exchange) holdLocked(d time.Duration) {
	if x.conn.sess == nil {
		return
	}
	epoch := x.leaderEpochLocked()
	x.srv.afterLocked(d, func() {
		x.srv.mu.Lock()
		defer x.srv.unlock()
		if x.srv.stopped || x.srv.closed || !x.srv.writableLocked() || x.leaderEpochLocked() != epoch {
			return // a server forgets what it has not handed on to its leader
		}
		x.req.Err, x.req.Processed = x.runHeldLocked(), true
		x.req.Zxid = x.srv.madeZxidLocked()
		x.logLocked()
	})
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

// leaderEpochLocked is the epoch of the leader that gets the request.
func (x *exchange) leaderEpochLocked() int64 {
	if x.srv.member == nil {
		return 0
	}
	return x.srv.member.epoch
}
