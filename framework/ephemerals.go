package framework

import (
	"context"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// ephemerals lets a client make one plain ephemeral node of a path at a time. When the reply to such a create is lost, the
// node is recognised by its owner, which is the session, and that alone could not tell the callers of one client apart.
type ephemerals struct {
	mu     sync.Mutex // protects the following fields
	busy   map[string]chan struct{}
	newest int64 // the largest czxid that some caller has been told, or could not be told
}

func newEphemerals() *ephemerals { return &ephemerals{busy: map[string]chan struct{}{}} }

// reservation is the right to create a plain ephemeral node. It ends when it is known what has become of the node,
// whether or not the caller has waited for that.
type reservation struct {
	in    *ephemerals
	path  string
	since int64 // older nodes are another's
}

// reserve waits until no other caller of the client may be making the node. Like every operation, it gives up when
// there is no connection for as long as the connection timeout.
func (c *Client) reserve(ctx context.Context, path string) (*reservation, error) {
	e := c.cfg.ephemerals
	if r, _ := e.tryReserve(path); r != nil {
		return r, nil
	}
	timeout := time.NewTicker(c.cfg.connectionTimeout)
	defer timeout.Stop()
	for {
		if ctx.Err() != nil {
			return nil, c.departedUnsent(ctx)
		}
		r, busy := e.tryReserve(path)
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
				return nil, c.whileConnecting(ErrNotConnected)
			}
		}
	}
}

// tryReserve returns a reservation, or a channel that is closed when the present one ends.
func (e *ephemerals) tryReserve(path string) (*reservation, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if busy := e.busy[path]; busy != nil {
		return nil, busy
	}
	e.busy[path] = make(chan struct{})
	return &reservation{e, path, e.newest}, nil
}

// made reports whether a node was made under this reservation.
func (r *reservation) made(stat *zk.Stat, s *Session) bool {
	return stat.EphemeralOwner == s.ID() && stat.Czxid > r.since
}

// release ends the reservation. The czxid is that of the node, if there is one.
func (r *reservation) release(czxid int64) {
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	r.in.newest = max(r.in.newest, czxid)
	close(r.in.busy[r.path])
	delete(r.in.busy, r.path)
}

// settleInBackground ends a reservation when it is known whether the session has made the node.
func (c *Client) settleInBackground(r *reservation, s *Session) {
	c.cleanUp(&cleanup{path: r.path, reserved: r, madeIn: s})
}
