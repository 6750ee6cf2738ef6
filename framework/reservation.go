package framework

import (
	"context"
	"sync"
	"time"

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

// reserve waits until no other caller of the client may be making the node.
// Like every operation, it gives up when there is no connection for as long as
// the connection timeout.
func (c *Client) reserve(ctx context.Context, path string) (*reservation, error) {
	all := c.reservations
	if r, _ := all.tryReserve(path); r != nil {
		return r, nil
	}
	timeout := time.NewTicker(max(c.cfg.connectionTimeout, shortestRoundPause)) // it ticks while others use the path
	defer timeout.Stop()
	for {
		if ctx.Err() != nil {
			return nil, c.notSent(ctx)
		}
		r, busy := all.tryReserve(path)
		if r != nil {
			return r, nil
		}
		select {
		case <-busy:
		case <-ctx.Done():
		case <-c.ctx.Done():
			return nil, ErrClosed
		case <-timeout.C:
			if s, _, _ := c.sessionNow(); s == nil {
				return nil, c.withConnectReasons(ErrNotConnected)
			}
		}
	}
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

// made reports whether a node was made under this reservation.
func (r *reservation) made(stat *proto.Stat, s *Session) bool {
	return stat.EphemeralOwner == s.ID() && stat.Czxid > r.since
}

// release ends the reservation. The czxid is the node's, if there is one.
func (r *reservation) release(czxid int64) {
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	r.in.newest = max(r.in.newest, czxid)
	close(r.in.busy[r.path])
	delete(r.in.busy, r.path)
}

// resolveInBackground ends a reservation when it is known whether the session
// has made the node.
func (c *Client) resolveInBackground(r *reservation, s *Session) {
	c.cleanUp(&cleanup{path: r.path, reserved: r, madeIn: s})
}
