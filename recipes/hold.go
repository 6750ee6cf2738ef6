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

// newHold returns a claim without leases; the caller adds the first with lease.
func newHold(c *framework.Client, key any, node framework.Created) *hold {
	h := &hold{client: c, key: key, node: node}
	h.ctx, h.end = context.WithCancelCause(node.Session.Trusted(c.ErrorPolicy()))
	h.guard = time.AfterFunc(guardAfter, func() { c.Go(h.watchOwnNode) })
	return h
}

// heldUnder returns the claim to a lock under whose lease's context ctx was made, or nil.
func heldUnder(ctx context.Context, key any) *hold {
	h, _ := ctx.Value(key).(*hold)
	return h
}

// lease adds a lease. It returns nil if the claim has been given up or lost.
func (h *hold) lease(ctx context.Context, first bool) *Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !first && h.leases == 0 || h.ctx.Err() != nil {
		return nil
	}
	h.leases++
	l := &Lease{hold: h}
	l.ctx, l.end = context.WithCancelCause(leaseContext{h.ctx, ctx, h})
	return l
}

// leave removes a lease. The last one to leave deletes the node.
func (h *hold) leave(ctx context.Context, lost bool) error {
	h.mu.Lock()
	h.leases--
	last := h.leases == 0
	h.mu.Unlock()
	if !last {
		return nil
	}
	return h.giveUp(ctx, lost)
}

// giveUp ends the claim and deletes its node. The node of a lost claim may still be there, and in others' way, for as
// long as the server keeps the session; nobody has to wait for its deletion.
func (h *hold) giveUp(ctx context.Context, lost bool) error {
	h.guard.Stop()
	h.end(ErrReleased)
	if lost {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		ctx = ended
	}
	return h.client.Delete(ctx, h.node.Path, framework.AnyVersion, framework.Guaranteed())
}

// watchOwnNode ends the claim when its node is deleted by somebody else. Its watch is not withdrawn at the end of the
// claim, because the deletion that follows uses it up anyway. ctx ends with the client.
func (h *hold) watchOwnNode(ctx context.Context) {
	for h.ctx.Err() == nil {
		_, _, watch, err := h.client.GetW(ctx, h.node.Path)
		switch {
		case err == nil:
			watch.Wait(ctx) // for any change; the next reading tells which
		case errors.Is(err, zk.ErrNoNode):
			h.end(ErrNodeDeleted)
		case framework.IsConnectionError(err):
			h.client.WaitConnected(h.ctx)
		default:
			return
		}
	}
}

// leaseContext ends with a claim and has the values of the context that the lease was acquired with. The claim's own
// values come first: they are those by which package context finds the parent of a context.
type leaseContext struct {
	context.Context
	values context.Context
	hold   *hold
}

func (c leaseContext) Value(key any) any {
	if key == c.hold.key {
		return c.hold
	}
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.values.Value(key)
}
