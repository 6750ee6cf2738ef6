package lockloop

import (
	"context"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// mayFollow reports whether we may wait without a look at the queue. An attempt
// that does not wait, or that waits for so many only, has to look.
func (c *contender) mayFollow() bool {
	return c.attempt.Wait && c.loop.order.Limit == 0
}

// follow finds a blocker that we wait for without a look. It is nil if we must
// look. Otherwise the caller must call stop.
func (o Order) follow(c *contender) (b *blocker, stop func()) {
	first := !c.looked
	c.looked = true
	if c.attempt.Crowd == nil || !first || c.node.Siblings != nil || !c.mayFollow() {
		return nil, nil
	}
	ours, err := c.entry()
	if err != nil {
		return nil, nil
	}
	b, seen, stop := c.attempt.Crowd.follow(ours, o.Blocks)
	if b != nil {
		c.seen = seen
	}
	return b, stop
}

// standingInCrowd is standing for a contender that looks together with others.
func (o Order) standingInCrowd(ctx context.Context, c *contender) (Standing, time.Time, error) {
	since := c.since
	c.since = nil
	of := c.loop.nodes
	v, err := c.attempt.Crowd.look(ctx, since, func() (*view, error) {
		names, _, err := of.Client.Children(ctx, of.Path)
		if err != nil {
			return nil, err
		}
		return viewOf(names, time.Now(), of.Kinds, of.Kind, o.Blocks), nil
	})
	if err := c.checkSession(err); err != nil {
		return Standing{}, time.Time{}, err
	}
	ours, err := c.entry()
	if err != nil {
		return Standing{}, time.Time{}, err
	}
	if !v.suits(ours) {
		if err := c.check(v.names, nil); err != nil {
			return Standing{}, time.Time{}, err
		}
		now, err := o.standingAmong(ctx, c, c.withoutTwins(slices.Clone(v.names)))
		return now, v.at, err
	}
	now, found := v.standing(ours)
	if !found {
		return Standing{}, time.Time{}, errStale
	}
	return now, v.at, nil
}

// watch returns the blocker of a node. The function stop must be called when we
// do not wait any more.
func (c *contender) watch(ctx context.Context, node string) (b *blocker, stop func(), err error) {
	crowd := c.attempt.Crowd
	if crowd == nil {
		b = &blocker{node: node}
		if err = c.readBlocker(ctx, b); err != nil {
			return nil, nil, err
		}
		return b, b.watch.Stop, nil
	}
	b, err = crowd.wait(ctx, node, c.readBlocker)
	if err != nil {
		return nil, nil, err
	}
	return b, func() { crowd.leave(b) }, nil
}

// readBlocker reads a node with a watch that ends with a context.
func (c *contender) readBlocker(under context.Context, b *blocker) (err error) {
	b.data, b.stat, b.watch, err = c.loop.nodes.Client.GetW(under, znode.Join(c.loop.nodes.Path, b.node))
	return err
}

// learn notes what the blocker's node says of the holder, and who owns it.
func (c *contender) learn(b *blocker) {
	c.noteOwner(b.node, b.stat)
	if b.node == c.seen.Holder {
		c.noteHolder(b.data, b.stat)
	}
}

// tellCrowd tells how we stand to contenders that join the crowd later.
func (c *contender) tellCrowd(b *blocker, length int) {
	if c.attempt.Crowd == nil {
		return
	}
	if entry, ok := parse(b.node, c.loop.nodes.Kinds); ok {
		c.attempt.Crowd.tell(b, entry, c.seen, length)
	}
}

// checkSession returns what is wrong with a look at the queue.
func (c *contender) checkSession(err error) error {
	if c.node.Session.Context().Err() != nil || reason.Is(err, zk.ErrNoNode) {
		return errStale
	}
	return err
}
