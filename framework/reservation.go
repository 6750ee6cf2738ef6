package framework

import (
	"maps"
	"sync"

	"github.com/gocurator/curator/framework/internal/proto"
)

// reservations let a client make one plain ephemeral node of a path at a time.
// When the reply to such a create is lost, the node is recognised by its owner,
// which is the session, and that alone could not tell the callers of one client
// apart.
type reservations struct {
	mu     sync.Mutex // protects the following fields
	busy   map[string]chan struct{}
	newest int64  // the largest czxid that some caller has been told, or could not be told
	epoch  uint64 // of the newest session that has given up a reservation

	// unknown has the paths at which there may be a node that was not found out
	// about, with the epoch of the session that may have made it. One of an earlier
	// session does not matter: nobody looks for a node of its own with that.
	unknown map[string]uint64
}

func newReservations() *reservations {
	return &reservations{busy: map[string]chan struct{}{}, unknown: map[string]uint64{}}
}

// reservation is the right to create a plain ephemeral node. It ends when it is
// known what has become of the node, whether or not the caller has waited for
// that.
type reservation struct {
	in     *reservations
	path   string
	since  int64  // older nodes are another's
	hidden uint64 // the epoch of a session whose node may be another caller's; 0 if there is none
	ended  bool   // protected by in.mu
}

// tryReserve returns a reservation, or a channel that is closed when the
// present one ends.
func (rs *reservations) tryReserve(path string) (*reservation, <-chan struct{}) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if busy := rs.busy[path]; busy != nil {
		return nil, busy
	}
	rs.busy[path] = make(chan struct{})
	return &reservation{in: rs, path: path, since: rs.newest, hidden: rs.unknown[path]}, nil
}

// made reports whether a node was made under this reservation, in this session.
func (r *reservation) made(stat *proto.Stat, s *Session) bool {
	return stat.EphemeralOwner == s.ID() && s.epoch != r.hidden && stat.Czxid > r.since
}

// release ends the reservation. The czxid is the node's, if there is one. If nobody
// knows, it is a number that the node's is not larger than.
func (r *reservation) release(czxid int64) {
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	if czxid > 0 { // nodes that were made before are older
		delete(r.in.unknown, r.path)
	}
	r.in.newest = max(r.in.newest, czxid)
	r.endLocked()
}

// giveUp ends the reservation if it stays unknown whether the session has made the
// node, and how new that is. Until the path has a newer node, later callers take
// none of this session for their own.
func (r *reservation) giveUp(s *Session) {
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	if !r.ended {
		r.in.unknown[r.path] = s.epoch
	}
	r.in.epoch = max(r.in.epoch, s.epoch)
	maps.DeleteFunc(r.in.unknown, func(_ string, epoch uint64) bool { return epoch < r.in.epoch })
	r.endLocked()
}

// endLocked ends the reservation once. The caller and the one who gets the answer
// do so both, if the caller's context panics while it hands over.
func (r *reservation) endLocked() {
	if r.ended {
		return
	}
	r.ended = true
	close(r.in.busy[r.path])
	delete(r.in.busy, r.path)
}
