package recipes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// hold is one node's claim to a lock, shared by the lease that won it and those that re-entered.
type hold struct {
	client *framework.Client
	key    any // of the lock, in the contexts of its leases
	node   framework.Created

	ctx context.Context // ends when the claim does
	end context.CancelCauseFunc

	guard *time.Timer // starts to watch our own node

	mu     sync.Mutex // protects leases
	leases int        // the claim is given up at zero and never taken again
}

// guardAfter is how long a lock is held before its holder asks to be told of its own node's deletion. A short critical
// section pays nothing for that.
const guardAfter = time.Second

// claim returns the first lease of an admitted node's claim, or nil if the claim was lost between the grant and now.
func claim(ctx context.Context, c *framework.Client, key any, node framework.Created) *Lease {
	h := &hold{client: c, key: key, node: node, leases: 1}
	h.ctx, h.end = context.WithCancelCause(node.Session.Trusted(c.ErrorPolicy()))
	if h.ctx.Err() != nil {
		h.giveUpLost()
		return nil
	}
	h.guard = time.AfterFunc(guardAfter, func() { c.Go(h.watchOwnNode) })
	return h.newLease(ctx)
}

// heldUnder returns the claim to a lock under whose lease's context ctx was made, or nil.
func heldUnder(ctx context.Context, key any) *hold {
	h, _ := ctx.Value(key).(*hold)
	return h
}

// reenter adds a lease. It returns nothing if the claim was given up, and its end's cause if it was lost: whoever asks
// believes to be holding the lock, and must not be put at the end of the queue without a word.
func (h *hold) reenter(ctx context.Context) (*Lease, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.leases == 0:
		return nil, nil
	case h.ctx.Err() != nil:
		return nil, context.Cause(h.ctx)
	}
	h.leases++
	return h.newLease(ctx), nil
}

func (h *hold) newLease(ctx context.Context) *Lease {
	l := &Lease{hold: h}
	l.ctx, l.end = context.WithCancelCause(endOf(h.ctx, h.valuesOf(ctx)))
	return l
}

// valuesOf returns the values of ctx, by which an acquire will find that it is under this claim, without its end.
func (h *hold) valuesOf(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), h.key, h)
}

// leave removes a lease, and reports whether it was the last.
func (h *hold) leave() (last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leases--
	return h.leases == 0
}

// giveUp ends the claim and deletes its node.
func (h *hold) giveUp(ctx context.Context) error {
	h.guard.Stop()
	h.end(ErrReleased)
	return h.client.Delete(ctx, h.node.Path, framework.AnyVersion, framework.Guaranteed())
}

// giveUpLost deletes the node of a claim that is lost. It may still be there, and in others' way, for as long as the
// server keeps the session, but nobody has to wait for its deletion.
func (h *hold) giveUpLost() {
	if h.guard != nil {
		h.guard.Stop()
	}
	h.client.DeleteInBackground(h.node.Path)
}

// watchOwnNode ends the claim when its node is deleted by somebody else. The watch is left to fire at the end of the
// claim, because the deletion that follows uses it up on the server without a request. ctx ends with the client.
func (h *hold) watchOwnNode(ctx context.Context) {
	for h.ctx.Err() == nil {
		_, _, watch, err := h.client.GetW(ctx, h.node.Path)
		switch {
		case err == nil:
			watch.Wait(ctx) // for any change; the next reading tells which
			watch.Stop()
		case errors.Is(err, zk.ErrNoNode):
			h.end(ErrNodeDeleted)
		default:
			h.pause()
		}
	}
}

// pause waits before the next attempt to watch our own node: for a connection, and for a second in any case.
func (h *hold) pause() {
	select {
	case <-time.After(guardAfter):
	case <-h.ctx.Done():
	}
	h.client.WaitConnected(h.ctx)
}

// endOf returns a context that ends with end and has the values of values, and behind those, the values of end. The end
// of values must have been taken away by context.WithoutCancel: that also hides the value by which package context
// finds the parent of a context, so that it finds the right one.
func endOf(end, values context.Context) context.Context { return contextOf{end, values} }

type contextOf struct {
	context.Context
	values context.Context
}

func (c contextOf) Value(key any) any {
	if v := c.values.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}
