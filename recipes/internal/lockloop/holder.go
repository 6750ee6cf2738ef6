package lockloop

import (
	"context"
	"time"

	"github.com/gocurator/curator/internal/reason"
)

// holderAfter is how long a contender waits before it reads the holder's node,
// unless that is the node which it waits for. Most waits are shorter. And where
// locks are held for a short time, the holder is gone when it is asked for.
const holderAfter = 200 * time.Millisecond

// whenToRead returns how long to wait before the holder is read. If ctx ends
// soon, half of its time is left for the answer, so that the error can name the
// holder.
func whenToRead(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(holderAfter, max(time.Until(deadline)/2, 0))
	}
	return holderAfter
}

// awaitChange waits for a blocker. It tells the observer what we wait for when it
// knows the holder, or at the end of the wait.
func (c *contender) awaitChange(ctx context.Context, b *blocker) error {
	c.tellBlocked()
	err := c.awaitHolder(ctx, b)
	c.tellWaiting(other(b.node, b.data, b.stat))
	if err == nil {
		err = c.await(ctx, changes{b.watch.Done(), c.own.changed()}, nil)
	}
	c.tellWoken(err, b.watch)
	return err
}

// awaitHolder returns nil when we know the holder, or have asked for it. It
// returns what await does if the wait is over before.
func (c *contender) awaitHolder(ctx context.Context, b *blocker) error {
	c.attempt.Crowd.recallHolder(&c.seen)
	if c.seen.HasRead() || c.seen.Holder == b.node {
		return nil
	}
	due := time.NewTimer(whenToRead(ctx))
	defer due.Stop()
	if err := c.await(ctx, changes{b.watch.Done(), c.own.changed()}, due.C); !reason.Is(err, errDue) {
		return err
	}
	under, cancel := context.WithCancel(ctx)
	defer cancel()
	defer b.watch.AfterFunc(cancel)() // nobody waits for this answer when it is our turn
	defer c.own.afterChange(cancel)()
	c.attempt.Crowd.readHolder(under, c)
	if c.seen.HasRead() { // if it is gone, others may have told of a newer look
		c.tellBlocked()
	}
	return nil
}

// sharedHolder is the node of a holder that one of a crowd reads for all.
type sharedHolder struct {
	node     string
	done     chan struct{} // closed when the following fields are set
	seen     NotAdmitted
	complete bool // the contender that made the request has not given up
}

// readHolder is contender.readHolder. The contenders of a crowd share the request.
func (w *Crowd) readHolder(ctx context.Context, c *contender) {
	if w == nil {
		c.readHolder(ctx)
		return
	}
	for ctx.Err() == nil {
		h, first := w.shareHolder(c.seen.Holder)
		if first {
			h.read(ctx, c)
			return
		}
		select {
		case <-h.done:
		case <-ctx.Done():
			return
		}
		if h.complete {
			c.seen.RecallHolder(h.seen)
			return
		}
	}
}

func (h *sharedHolder) read(ctx context.Context, c *contender) {
	defer close(h.done) // the user's code may panic, such as a tracer
	c.readHolder(ctx)
	h.seen, h.complete = c.seen, ctx.Err() == nil
}

// shareHolder returns the holder with a node, and reports true if the caller must
// read it.
func (w *Crowd) shareHolder(node string) (h *sharedHolder, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.holder; h != nil && h.node == node && !h.isAbandoned() {
		return h, false
	}
	w.holder = &sharedHolder{node: node, done: make(chan struct{})}
	return w.holder, true
}

// recallHolder adds what one of the crowd has read of the holder.
func (w *Crowd) recallHolder(r *NotAdmitted) {
	if w == nil {
		return
	}
	w.mu.Lock()
	h := w.holder
	w.mu.Unlock()
	if h != nil && h.isKnown() {
		r.RecallHolder(h.seen)
	}
}

func (h *sharedHolder) isKnown() bool {
	select {
	case <-h.done:
		return h.complete
	default:
		return false
	}
}

func (h *sharedHolder) isAbandoned() bool {
	select {
	case <-h.done:
		return !h.complete
	default:
		return false
	}
}
