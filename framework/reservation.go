package framework

import (
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
	newest int64 // the largest czxid that some caller has been told, or could not be told
}

func newReservations() *reservations { return &reservations{busy: map[string]chan struct{}{}} }

// reservation is the right to create a plain ephemeral node. It ends when it is
// known what has become of the node, whether or not the caller has waited for
// that.
type reservation struct {
	in    *reservations
	path  string
	since int64 // older nodes are another's
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
	return &reservation{rs, path, rs.newest}, nil
}

// made reports whether a node was made under this reservation, in the session
// with this id.
func (r *reservation) made(stat *proto.Stat, session int64) bool {
	return stat.EphemeralOwner == session && stat.Czxid > r.since
}

// release ends the reservation. The czxid is the node's, if there is one. If nobody
// knows, it is a number that the node's is not larger than.
func (r *reservation) release(czxid int64) {
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	r.in.newest = max(r.in.newest, czxid)
	close(r.in.busy[r.path])
	delete(r.in.busy, r.path)
}
