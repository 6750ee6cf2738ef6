package lockloop

import (
	"context"
	"path"
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
// later. The claim hears of that, as it does of every deletion of its node.
//
// That is not so in some cases, and then the contender looks. The comments at
// the conditions name them.
//
// At a semaphore's gate, every contender looks: who enters reads the leases next, and
// an event does not say, as an answer does, how new the server is that tells of it, so
// that the client may read them from an older one after a reconnect. The answer to a
// deletion of our own session does, but the gate's node is deleted by a transaction,
// and to know that our own node lives would cost the request that the look does.

// isNextIn reports whether we are the next for sure when the one that we wait for
// is deleted.
func (o Order) isNextIn(now Standing, c *contender) bool {
	if now.Ahead != 1 || o.EntersAfter == nil {
		return false
	}
	// A crowd shares its look with those behind, who need it anyway. A create that
	// was tried again may have made two nodes, and only a look finds the other.
	if c.attempt.Crowd != nil || c.mayHaveTwin {
		return false
	}
	ours, isOurs := parse(path.Base(c.node.Path), c.loop.nodes.Kinds)
	ahead, isAhead := parse(now.Blocker, c.loop.nodes.Kinds)
	return isOurs && isAhead && follows(ours, ahead) && o.EntersAfter(ours.Kind, ahead.Kind)
}

// follows reports whether numbers tell that a contender came after another, and
// before all that come later. They do not where the server has none left. Equal
// ones were not given by a server.
func follows(ours, ahead Entry) bool {
	return !ours.overflowed() && !ahead.overflowed() && ours.Seq > ahead.Seq
}

// isFirst reports whether a wait for a blocker has made us the first. The order
// of events says nothing where a server tells of changes that were made before,
// as after a reconnect. Then it does not matter which of two we see first.
func (c *contender) isFirst(ctx context.Context, b *blocker) bool {
	return c.isNext && isGone(b.watch) && c.sessionLived(ctx, b) && b.watch.InOrder() && c.own.isSet()
}

// sessionLived reports whether our session lived when the blocker's node was
// deleted. The end of a session deletes all its nodes in one transaction, in any
// order, and the server may hang up before it has told of the second. So if the
// node is of our session, its deletion must be a request of ours that was answered.
// The answer comes right behind the event.
func (c *contender) sessionLived(ctx context.Context, b *blocker) bool {
	return b.stat.EphemeralOwner != c.node.Session.ID() || b.watch.ByOwnDelete(ctx)
}
