package seat

import (
	"context"
	"path"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/order"
)

// A contender with only one node ahead is first as soon as that node is deleted. It need
// not re-read the queue, for two reasons:
//
//  - No other contender can be in between. The numbers of new nodes only grow while the
//    lock's path exists, and the path exists as long as the contender's node.
//  - The contender's node still exists. A watch on it was set, and has not fired. Events
//    arrive in the order of the transactions, so an earlier deletion would have triggered
//    it.
//
// If an operator deletes both nodes in one transaction, the watch on the contender's node
// may fire a moment later. The hold then notices the deletion in the same way as any
// other deletion of its node.
//
// In some cases this is not true, and the contender re-reads the queue. The comments at
// the conditions name these cases.
//
// At a semaphore's gate, every contender re-reads the queue. The admitted contender reads
// the leases next. Unlike a reply, an event does not say how new the state of its server
// is, so that after a reconnect the client might read the leases from an older server.

// The third contender in the queue is next when the holder leaves. A watch on the
// holder's node notifies the third contender. Every waiter reads that node; the third
// contender does so sooner, and sets the watch with the same request. It can then set the
// watch on its own node while the contender ahead works. So a release wakes two clients
// if three are queued: the contender that is admitted, and the next one.

// isNextIn reports whether the contender is certainly first when the blocking node is
// deleted.
func (c *contender) isNextIn(now order.Standing, b *blocker) bool {
	return now.Ahead == 1 && c.entersAfter(now.Blocker) &&
		// A repeated create may have created two nodes, and only a read of the queue
		// finds the other. The end of a session deletes all its nodes in one transaction,
		// in any order, and the server may close the connection before it sends the event
		// of this node.
		!c.mayHaveTwin && b.stat.EphemeralOwner != c.node.Session.ID()
}

// isThirdIn reports whether the contender is certainly next when the holder's node is
// deleted.
func (c *contender) isThirdIn(now order.Standing) bool {
	return now.Ahead == 2 && now.First != now.Blocker && !c.mayHaveTwin &&
		c.entersAfter(now.First) && c.entersAfter(now.Blocker)
}

// entersAfter reports whether the contender can pass as soon as the node is deleted.
func (c *contender) entersAfter(node string) bool {
	enters := c.lock.cfg.EntersAfter
	if enters == nil {
		return false
	}
	ours, isOurs := order.Parse(path.Base(c.node.Path), c.lock.cfg.Kinds)
	ahead, isAhead := order.Parse(node, c.lock.cfg.Kinds)
	return isOurs && isAhead && order.Follows(ours, ahead) && enters(ours.Kind, ahead.Kind)
}

// thirdAfter is how long the third contender waits before it watches the holder. If locks
// are held for a shorter time, the watch would cost more than it saves.
const thirdAfter = 10 * time.Millisecond

// awaitTurn waits for the blocker. Meanwhile, the third contender may become the next
// one.
func (c *contender) awaitTurn(ctx context.Context, b *blocker) error {
	if first := c.first; first != nil {
		err := c.await(ctx, changes{b.watch.Done(), c.own.changed(), first.Done()}, nil)
		if !reason.Is(err, errAgain) || isDone(b.watch) || c.own != nil && !c.own.isSet() {
			return err
		}
		if isGone(first) && first.InOrder() { // otherwise the node was written
			if err := c.becomeNext(ctx, b); err != nil {
				return err
			}
		}
	}
	return c.await(ctx, changes{b.watch.Done(), c.own.changed()}, nil)
}

// becomeNext is called for the third contender when the holder has left.
func (c *contender) becomeNext(ctx context.Context, b *blocker) error {
	c.isNext = c.isNextIn(order.Standing{Ahead: 1, Blocker: b.node}, b)
	c.noteQueue(b.node, 1)
	c.noteHolder(b.data, b.stat)
	c.tellBlocked()
	return c.watchSelf(ctx)
}

// isFirst reports whether the end of a wait has made the contender first. After a
// reconnect, a server reports earlier changes, and the order of these events is
// meaningless. The contender then re-reads the queue.
func (c *contender) isFirst(b *blocker) bool {
	return c.isNext && isGone(b.watch) && b.watch.InOrder() && c.own.isSet()
}

// watchSelf watches the contender's node, if WatchSelf is set or if the watch saves the
// next read of the queue. In the latter case an error is ignored: the contender re-reads
// the queue instead.
func (c *contender) watchSelf(ctx context.Context) error {
	if c.own.isSet() {
		return nil
	}
	c.own = nil
	always := c.lock.cfg.WatchSelf
	if !always && !c.isNext {
		return nil
	}
	under, answered := beyond(ctx) // the seat takes the watch over when the contender is admitted
	data, _, watch, err := c.lock.cfg.Client.GetW(under, c.node.Path)
	switch err = answered(err); {
	case err == nil:
		c.own = &ownWatch{data, watch}
		return nil
	case reason.Is(err, zk.ErrNoNode):
		return errStale
	case ctx.Err() == nil && !always:
		return nil
	default:
		return err
	}
}
