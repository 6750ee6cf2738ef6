package framework

import (
	"context"
	"iter"

	"github.com/gocurator/curator/state"
)

// transition is a link in the chain of everything the client's state has been. Readers walk the chain at their own
// pace: none can hold up another or the client, and none misses a link. What all have read is garbage.
type transition struct {
	state state.State
	next  chan struct{} // closed when following is set
	after *transition
}

func newTransition(s state.State) *transition {
	return &transition{state: s, next: make(chan struct{})}
}

// publishLocked appends to the chain. c.mu is held.
func (c *Client) publishLocked(states []state.State) {
	for _, s := range states {
		t := newTransition(s)
		c.last.after = t
		close(c.last.next)
		c.last = t
	}
}

// State returns the state of the connection now.
func (c *Client) State() state.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last.state
}

// States returns the transitions that follow this call, each of them once and in order, until ctx ends or the client
// is closed. Closing is not a transition.
//
//	for s := range client.States(ctx) {
//		log.Println("zookeeper:", s)
//	}
//
// A slow reader delays nobody and misses nothing; it only hears later. The client's own state, and the contexts that
// end with the session, have changed already when a transition is seen.
func (c *Client) States(ctx context.Context) iter.Seq[state.State] {
	c.mu.Lock()
	start := c.last
	c.mu.Unlock()
	return func(yield func(state.State) bool) {
		for t := start; ; t = t.after {
			select {
			case <-t.next:
			default:
				select {
				case <-t.next:
				case <-ctx.Done():
					return
				case <-c.ctx.Done():
					return
				}
			}
			if ctx.Err() != nil || !yield(t.after.state) {
				return
			}
		}
	}
}

// WaitConnected waits until the client has a connection and a session. It returns an *OpError that matches ctx.Err()
// if ctx ends first, and ErrClosed if the client is closed. It does not observe the connection timeout.
func (c *Client) WaitConnected(ctx context.Context) error {
	_, err := c.connected(ctx, nil)
	if err != nil {
		return &OpError{"connect", c.servers(), err}
	}
	return nil
}

// logStates writes a line for every transition. It reads the chain like everybody else, because a log handler is the
// user's code and must not run under the client's lock.
func (c *Client) logStates() {
	for s := range c.States(c.ctx) {
		c.cfg.logger.Info("zookeeper connection state changed", "state", s.String())
	}
}
