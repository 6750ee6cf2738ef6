package recipes

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// guard looks after the nodes of a claim: it tells the claim's hold when one of them is deleted by somebody else, or
// marked for revocation. The nodes may pass from one hold to the next.
type guard struct {
	client *framework.Client
	nodes  []framework.Created
	delay  *time.Timer // starts to watch
	once   sync.Once

	ctx  context.Context // ends when the nodes are given up, or not to be trusted any more: with it, every hold
	stop context.CancelCauseFunc

	// Made when watching begins.
	left   chan struct{} // closed when the nodes stay, and somebody else looks after them
	marked chan struct{} // closed when somebody has asked for the lock

	mu      sync.Mutex // protects the following fields
	owner   *hold
	revoked bool
}

// guardAfter is how long a lock is held before its holder asks to be told of its own node's deletion. A short critical
// section pays nothing for that.
const guardAfter = time.Second

func newGuard(trusted context.Context, h *hold) *guard {
	g := &guard{client: h.client, nodes: h.nodes, owner: h}
	g.ctx, g.stop = context.WithCancelCause(trusted)
	g.delay = time.AfterFunc(guardAfter, g.start)
	return g
}

// start begins to watch now, if that has not begun.
func (g *guard) start() {
	g.once.Do(func() {
		g.left, g.marked = make(chan struct{}), make(chan struct{})
		for _, n := range g.nodes {
			g.client.Go(func(ctx context.Context) { g.watch(ctx, n.Path) })
		}
	})
}

// end stops watching. What is watched already is left to fire: the deletion that follows uses the watch up on the server
// without a request of its own.
func (g *guard) end() {
	g.delay.Stop()
	g.stop(ErrReleased)
}

// leave is end for nodes that stay and are watched, as a leader's are from the beginning: their watches are given back,
// as nothing uses them up.
func (g *guard) leave() {
	g.end()
	close(g.left)
}

// protect makes h the one to tell. It reports false if there was a request to give the lock up.
func (g *guard) protect(h *hold) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.revoked {
		return false
	}
	g.owner = h
	return true
}

// watch looks after one node. ctx ends with the client. When the session ends, its watches may say so before its end has
// come down to the guard's own context.
func (g *guard) watch(ctx context.Context, path string) {
	session := g.nodes[0].Session.Context()
	ctx, _ = unblocked(ctx, g.client)
	for g.ctx.Err() == nil && session.Err() == nil {
		data, _, watch, err := g.client.GetW(ctx, path)
		switch {
		case err == nil:
			if bytes.Equal(data, revocationMarker) {
				g.revoke()
			}
			select {
			case <-watch.Done(): // for any change; the next reading tells which
			case <-g.left:
			case <-ctx.Done():
			}
			watch.Stop()
		case errors.Is(err, zk.ErrNoNode):
			g.deleted()
		default:
			g.pause()
		}
	}
}

func (g *guard) revoke() {
	g.mu.Lock()
	if !g.revoked {
		g.revoked = true
		close(g.marked)
	}
	owner := g.owner
	owner.revoke()
	g.mu.Unlock()
	owner.followed().revoked()
	owner.settle()
}

func (g *guard) deleted() {
	g.mu.Lock()
	owner := g.owner
	owner.end(ErrNodeDeleted)
	g.stop(ErrNodeDeleted) // and of whoever is just being made the owner
	g.mu.Unlock()
	owner.settle()
}

// pause waits before the next attempt: for a connection, and for a second in any case.
func (g *guard) pause() {
	select {
	case <-time.After(guardAfter):
	case <-g.ctx.Done():
	}
	g.client.WaitConnected(g.ctx)
}
