package framework

import (
	"context"
	"fmt"
	"time"
)

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
	var cutOff <-chan struct{}
	connection := c.connectionOf(ctx)
	if connection != nil {
		cutOff = connection.Done()
	}
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
		case <-cutOff:
			if ctx.Err() != nil {
				continue // that comes first
			}
			_, err := c.connectedSession(ctx) // none, for this caller
			return nil, fmt.Errorf("%w: %w", context.Cause(connection), err)
		case <-c.ctx.Done():
			return nil, ErrClosed
		case <-timeout.C:
			if s, _, _ := c.sessionNow(); s == nil {
				return nil, c.withConnectReasons(ErrNotConnected)
			}
		}
	}
}

// resolveInBackground ends a reservation when it is known whether the session
// has made the node.
func (c *Client) resolveInBackground(r *reservation, s *Session) {
	c.cleanUp(&cleanup{path: r.path, reserved: r, madeIn: s})
}
