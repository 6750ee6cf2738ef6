package lockloop

import (
	"context"
	"path"

	"github.com/gocurator/curator/framework"
)

// Limit returns how many contenders may be admitted. If watch is set, changed
// is a watch that fires when the limit may be another one. It is nil if the
// limit cannot change.
type Limit func(ctx context.Context, watch bool) (n int, changed *framework.Watch, err error)

// ByCount returns a loop that admits all contenders if they are no more than
// the limit, such as a semaphore's leases. All waiters watch the same children,
// so there should be one waiter at a time.
func ByCount(n Nodes, limit Limit) *Loop { return &Loop{nodes: n, admission: byCount{limit}} }

type byCount struct{ limit Limit }

// step looks without watches first, because that is usually enough.
func (b byCount) step(ctx context.Context, c *contender) error {
	children, err := c.children(ctx)
	if err == nil {
		err = c.checkSiblings(children)
	}
	if err != nil {
		return err
	}
	c.tellQueued(len(children)-1, len(children))
	fits, _, err := b.fits(ctx, c, len(children), false)
	switch {
	case err != nil:
		return err
	case fits:
		return granted(ctx)
	case !c.attempt.Wait:
		c.noteOthers(children)
		c.readHolder(ctx)
		return errHeld
	}
	return b.wait(ctx, c)
}

func (b byCount) wait(ctx context.Context, c *contender) error {
	children, _, watch, err := c.loop.nodes.Client.ChildrenW(ctx, c.loop.nodes.Path)
	if err == nil {
		defer watch.Stop()
	}
	if err = c.check(children, err); err == nil {
		children = c.withoutTwins(children)
		err = c.checkSiblings(children)
	}
	if err != nil {
		return err
	}
	fits, changed, err := b.fits(ctx, c, len(children), true)
	if err != nil {
		return err
	}
	var limit <-chan struct{}
	if changed != nil {
		defer changed.Stop()
		limit = changed.Done()
	}
	if fits {
		return granted(ctx)
	}
	c.noteOthers(children)
	c.readNewHolder(ctx)
	c.tellWaiting(Other{})
	c.tellBlocked()
	err = c.await(ctx, watch.Done(), limit)
	c.tellWoken(err, watch)
	return err
}

func (b byCount) fits(ctx context.Context, c *contender, n int, watch bool) (bool, *framework.Watch, error) {
	limit, changed, err := b.limit(ctx, watch)
	if err == nil && c.attempt.OnLimit != nil {
		c.attempt.OnLimit(limit)
	}
	return n <= limit, changed, err
}

// checkSiblings returns an error if another node of ours is gone.
func (c *contender) checkSiblings(children []string) error {
	there := 0
	for _, name := range children {
		if c.isSibling(name) {
			there++
		}
	}
	if there < len(c.attempt.Siblings) {
		return ErrIncomplete
	}
	return nil
}

func (c *contender) isSibling(name string) bool {
	_, ok := c.attempt.Siblings[name]
	return ok
}

// noteOthers records how many other contenders there are, without the attempt's
// own nodes. It also records which one comes first, to name one of them in
// errors.
func (c *contender) noteOthers(children []string) {
	own := path.Base(c.node.Path)
	var first Entry
	for e := range Entries(children, c.loop.nodes.Kinds...) {
		if e.Node != own && !c.isSibling(e.Node) && (first.Node == "" || compare(e, first) < 0) {
			first = e
		}
	}
	c.noteQueue(first.Node, len(children)-len(c.attempt.Siblings)-1)
}
