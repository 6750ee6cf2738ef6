package zktest

import (
	"maps"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// deposedLeader is what a leader has kept that is cut off from the others while
// they have elected another one. It goes on until it notices that it has no
// majority any more.
type deposedLeader struct {
	sessions map[int64]*session // that were alive then; some may have ended since
}

// deposeLocked notes what a leader has that does not know of the next one.
func (m *Member) deposeLocked() {
	m.deposed = &deposedLeader{maps.Clone(m.sessions)}
}

// connectWithoutMajorityLocked is connectLocked at a leader that has lost its
// majority and does not know that, or at a follower of it. To take up a session
// is no transaction (LeaderZooKeeperServer.revalidateSession).
func (op *connectOp) connectWithoutMajorityLocked(x *exchange) []byte {
	m := x.srv.member
	if !m.admitsLocked(op.session) {
		return x.hangUpLocked()
	}
	sessions := m.sessions
	if deposed := m.leader.deposed; deposed != nil {
		sessions = deposed.sessions
	}
	sess := sessions[op.session]
	switch {
	case sess == nil || !op.provesOwner(x.srv):
		return op.rejectLocked(x)
	case m.leader.deposed == nil:
		return op.takeUpLocked(x, sess)
	}
	return op.strayLocked(x, sess)
}

// strayLocked is takeUpLocked at a leader that was deposed. The next leader does
// not hear of it.
func (op *connectOp) strayLocked(x *exchange, sess *session) []byte {
	if sess.stray != nil {
		sess.stray.closeByServerLocked()
	}
	sess.stray, x.conn.sess = x.conn, sess
	sess.touchLocked(x.srv)
	x.req.Session, x.req.Zxid = sess.id, x.srv.zxid
	return op.answerLocked(x.srv, wire.Millis(sess.timeout), sess.id)
}
