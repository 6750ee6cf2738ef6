package zktest

import (
	"crypto/sha1"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// sessionTable is who the clients of a cluster are.
type sessionTable struct {
	secret uint64 // the passwords are derived from it; constant

	// The rest is guarded by the monitor of the cluster.
	last     int64 // the id given last
	sessions map[int64]*session

	// These are nil until there is one.
	replaced       map[int64]struct{} // sessions that the next handshake replaces silently
	pausedSessions map[int64]struct{} // sessions whose requests wait
	moving         map[int64]*Member  // the members that sessions are to go to
}

func newSessionTable(cfg config) sessionTable {
	return sessionTable{
		secret: secretOf(cfg), last: firstSessionID(time.Now()), sessions: make(map[int64]*session),
	}
}

// secretOf returns what passwords of sessions are made of. With a chaos plan
// from the beginning, it depends on the seed, so that the same seed gives the
// same run.
func secretOf(cfg config) uint64 {
	if cfg.plan != nil {
		return cfg.plan.Seed
	}
	return rand.Uint64()
}

const passwordSize = 16

// password proves that a client owns a session. It is derived from the id, so
// that the server need not keep it, and from a secret: servers that begin in
// the same millisecond have the same ids, and must not take each other's
// clients in.
func (t *sessionTable) password(id int64) []byte {
	sum := sha1.Sum(binary.BigEndian.AppendUint64(nil, uint64(id)^t.secret))
	return sum[:passwordSize]
}

// firstSessionID makes ids as ZooKeeper does: the server's number in the top
// byte, then the time of its start, then a counter.
func firstSessionID(start time.Time) int64 {
	const serverID = 1
	return int64(uint64(start.UnixMilli())<<24>>8) | serverID<<56
}

// beginLocked adds a session.
func (t *sessionTable) beginLocked(c *cluster) *session {
	t.last++
	sess := &session{id: t.last, cluster: c}
	t.sessions[sess.id] = sess
	return sess
}

// forgetLocked takes a session out that has ended.
func (t *sessionTable) forgetLocked(sess *session) {
	delete(t.sessions, sess.id)
	delete(t.pausedSessions, sess.id)
	delete(t.moving, sess.id) // every member may say that it is over
}

// oldestFirstLocked returns the sessions in the order in which they began.
func (t *sessionTable) oldestFirstLocked() []*session {
	if len(t.sessions) == 0 {
		return nil
	}
	list := make([]*session, 0, len(t.sessions))
	for _, id := range slices.Sorted(maps.Keys(t.sessions)) {
		list = append(list, t.sessions[id])
	}
	return list
}
