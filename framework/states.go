package framework

import (
	"context"
	"iter"
	"time"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/broadcast"
	"github.com/gocurator/curator/state"
)

// publishLocked appends to the transitions. c.mu is held.
func (c *core) publishLocked(states []state.State) {
	for _, s := range states {
		change := c.changeLocked(s)
		c.last = c.last.Append(change)
		c.emitStateLocked(change)
	}
}

// emitStateLocked has the emitter write a transition to the log, and call the hooks.
func (c *core) emitStateLocked(change clienttrace.StateChange) {
	those := hookStateChanged.Of(c.root)
	if len(those) == 0 && !c.hasLog() {
		return
	}
	c.emitter.post(func() {
		c.cfg.logState(change)
		for _, h := range those {
			h.StateChanged(change)
		}
	})
}

func (c *core) changeLocked(s state.State) clienttrace.StateChange {
	change := clienttrace.StateChange{
		Client: Extend(c.root), State: s, Time: time.Now(),
		SessionID: c.session.id, Server: c.session.server,
	}
	if !s.IsConnected() {
		change.Cause = c.attempt
	}
	if s == state.Lost && c.session.ctx.Err() != nil {
		change.Cause = context.Cause(c.session.ctx)
	}
	return change
}

// State returns the state of the connection now.
func (c *Client) State() state.State {
	return c.lastChange().Value.State
}

func (c *core) lastChange() *broadcast.Node[clienttrace.StateChange] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// States returns the transitions that follow this call, each of them once and
// in order, until ctx ends or the client is closed. Closing is not a
// transition.
//
//	for s := range client.States(ctx) {
//		log.Println("zookeeper:", s)
//	}
//
// If another goroutine reads them, call States before it begins: it could begin
// after a transition.
//
// A slow reader delays nobody and misses nothing; it only hears later.
// Transitions that it has not read yet stay in memory: a reader that begins,
// and then never goes on, keeps every transition until the client is closed.
// The client's own state, and the contexts that end with the session, have
// changed already when a transition is seen.
func (c *Client) States(ctx context.Context) iter.Seq[state.State] {
	start := c.lastChange()
	return func(yield func(state.State) bool) {
		for change := range c.changes(ctx, start) {
			if !yield(change.State) {
				return
			}
		}
	}
}

// changes returns what follows start.
func (c *core) changes(ctx context.Context, start *broadcast.Node[clienttrace.StateChange]) iter.Seq[clienttrace.StateChange] {
	return func(yield func(clienttrace.StateChange) bool) {
		for change := range start.All(ctx.Done(), c.ctx.Done()) {
			if ctx.Err() != nil || !yield(change) {
				return
			}
		}
	}
}
