package seat

import (
	"context"
	"path"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/order"
)

// A contender that has been behind one other alone is the first as soon as that
// one is gone. It need not look at the queue again:
//
//   - Nobody has come in between. The numbers of new nodes only rise, as long as
//     the lock's path lives, and that lives as long as our node does.
//   - Our node lives. A watch on it was set, and has not fired. Events come in the
//     order of the transactions, so an earlier deletion would have fired it.
//
// If an operator deletes both nodes in one transaction, our watch may fire a moment
// later. The hold learns that, as it learns of every deletion of its node.
//
// That is not so in some cases, and then the contender looks. The comments at
// the conditions name them.
//
// At a semaphore's gate, every contender looks: who enters reads the leases next, and
// an event does not say, as an answer does, how new the server is that tells of it, so
// that the client may read them from an older one after a reconnect.

// The third in the queue is the next when the holder goes. It learns of that by a
// watch on the holder's node, which it sets with the read that waiters make anyway,
// and sooner. It can take its own watch then, while the one ahead works. So a release
// wakes two clients where three queue: the contender that is admitted, and the next.

// isNextIn reports whether we are the next for sure when the node that we wait for
// is deleted.
func (c *contender) isNextIn(now order.Standing, b *blocker) bool {
	return now.Ahead == 1 && c.entersAfter(now.Blocker) &&
		// A create that was tried again may have made two nodes, and only a look finds the
		// other. The end of a session deletes all its nodes in one transaction, in any order,
		// and the server may hang up before it has sent the event of ours.
		!c.mayHaveTwin && b.stat.EphemeralOwner != c.node.Session.ID()
}

// isThirdIn reports whether we are the next for sure when the holder's node is deleted.
func (c *contender) isThirdIn(now order.Standing) bool {
	return now.Ahead == 2 && now.First != now.Blocker && c.entersAfter(now.First) && c.entersAfter(now.Blocker) && !c.mayHaveTwin
}

// entersAfter reports whether the deletion of a node alone takes it out of our way.
func (c *contender) entersAfter(node string) bool {
	enters := c.lock.cfg.EntersAfter
	if enters == nil {
		return false
	}
	ours, isOurs := order.Parse(path.Base(c.node.Path), c.lock.cfg.Kinds)
	ahead, isAhead := order.Parse(node, c.lock.cfg.Kinds)
	return isOurs && isAhead && order.Follows(ours, ahead) && enters(ours.Kind, ahead.Kind)
}

// thirdAfter is how long the third in the queue waits before it watches the holder.
// Where locks are held for a shorter time, the watch would cost more than it saves.
const thirdAfter = 10 * time.Millisecond

// awaitTurn waits for the blocker. The third in the queue becomes the next meanwhile.
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

// becomeNext is for the third in the queue, when the holder has gone.
func (c *contender) becomeNext(ctx context.Context, b *blocker) error {
	c.isNext = c.isNextIn(order.Standing{Ahead: 1, Blocker: b.node}, b)
	c.noteQueue(b.node, 1)
	c.noteHolder(b.data, b.stat)
	c.tellBlocked()
	return c.watchSelf(ctx)
}

// isFirst reports whether a wait for a blocker has made us the first. The order
// of events says nothing where a server tells of changes that were made before,
// as after a reconnect. Then it does not matter which of two we see first.
func (c *contender) isFirst(b *blocker) bool {
	return c.isNext && isGone(b.watch) && b.watch.InOrder() && c.own.isSet()
}

// watchSelf watches our own node, if that is asked for, or if it saves the next
// look at the queue. In the latter case the contender goes on without the watch
// if there is an error: it looks, as it would have done.
func (c *contender) watchSelf(ctx context.Context) error {
	if c.own.isSet() {
		return nil
	}
	c.own = nil
	always := c.lock.cfg.WatchSelf
	if !always && !c.isNext {
		return nil
	}
	under, answered := beyond(ctx) // the watch goes to the seat if we are admitted
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
