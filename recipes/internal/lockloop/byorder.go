package lockloop

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// Order is how a lock admits its contenders by their order in the queue.
type Order struct {
	// Blocks says which contenders ahead of us keep us waiting.
	Blocks Blocks

	// Limit is how many contenders may be ahead of us for us to wait; 0 means
	// any number.
	Limit int

	// EntersAfter reports whether a contender of the kind ours, with one of the
	// kind ahead as the only one before it, is admitted when that one's node is
	// deleted. It is not if a node that blocks it may take that one's place. If
	// EntersAfter is nil, a contender always looks. It must be a pure function.
	EntersAfter Blocks

	// WatchSelf makes every waiter notice that its own node is deleted, at the
	// price of a second watch. Without it, only those do that are next.
	WatchSelf bool
}

// ByOrder returns a loop that admits a contender when none ahead of it blocks
// it. A waiter watches the nearest one that does.
func ByOrder(n Nodes, o Order) *Loop {
	return &Loop{nodes: n, order: o, newNode: znode.Join(n.Path, n.Kind)}
}

// step looks at the queue once. It returns nil if the contender is admitted, and
// errAgain when the queue has changed since.
func (o Order) step(ctx context.Context, c *contender) error {
	c.isNext = false
	if b, stop := o.follow(c); b != nil {
		defer stop()
		c.tellQueued(c.seen.Ahead, c.seen.Ahead+1)
		return o.await(ctx, c, b)
	}
	now, seen, err := o.standing(ctx, c)
	if err != nil {
		return err
	}
	c.attempt.Crowd.noteLength(now.Length)
	c.tellQueued(now.Ahead, now.Length)
	if now.Blocker == "" {
		return granted(ctx)
	}
	o.note(c, now, seen)
	if !c.attempt.Wait || c.seen.Full {
		c.readHolder(ctx)
		return errHeld
	}
	return o.waitFor(ctx, c, now)
}

// note records how we stood in the queue at a time.
func (o Order) note(c *contender, now Standing, seen time.Time) {
	c.noteQueue(now.First, now.Ahead)
	c.seen.Seen = seen
	c.seen.Full = o.Limit > 0 && now.Ahead >= o.Limit
}

// standing finds our position in the queue at a time.
func (o Order) standing(ctx context.Context, c *contender) (Standing, time.Time, error) {
	if c.attempt.Crowd != nil && c.node.Siblings == nil {
		return o.standingInCrowd(ctx, c)
	}
	children, err := c.children(ctx)
	if err != nil {
		return Standing{}, time.Time{}, err
	}
	now, err := o.standingAmong(ctx, c, children)
	return now, time.Now(), err
}

func (o Order) standingAmong(ctx context.Context, c *contender, children []string) (Standing, error) {
	ours, err := c.entry()
	if err != nil {
		return Standing{}, err
	}
	queue, err := c.resolve(ctx, ours, children)
	if err != nil {
		return Standing{}, err
	}
	return StandingOf(ours, queue, o.Blocks), nil
}

// waitFor waits for the node that blocks us. It returns nil if that makes us the
// first, and errAgain when the queue may have changed otherwise. It sets the
// watch by reading the node. Asking for its existence would leave a watch behind
// on a node that is gone already (CURATOR-107).
func (o Order) waitFor(ctx context.Context, c *contender, now Standing) error {
	c.isNext = o.isNextIn(now, c)
	b, stop, err := c.watch(ctx, now.Blocker)
	if reason.Is(err, zk.ErrNoNode) {
		return errAgain
	}
	if err != nil {
		return err
	}
	defer stop()
	c.learn(b)
	c.tellCrowd(b, now.Length)
	return o.await(ctx, c, b)
}

// await waits for the blocker, whose watch is set.
func (o Order) await(ctx context.Context, c *contender, b *blocker) error {
	if err := o.watchSelf(ctx, c); err != nil {
		return err
	}
	err := c.awaitChange(ctx, b)
	if !reason.Is(err, errAgain) {
		return err
	}
	if !c.isFirst(ctx, b) {
		c.since = b
		return err
	}
	if err := c.checkSession(nil); err != nil {
		return err
	}
	return granted(ctx)
}

// entry returns our node as an entry of the queue.
func (c *contender) entry() (Entry, error) {
	name := path.Base(c.node.Path)
	ours, ok := parse(name, c.loop.nodes.Kinds)
	if !ok { // no server appends such a number
		return Entry{}, fmt.Errorf("%w: node %q has no sequence number", ErrCorrupted, name)
	}
	ours.Czxid = c.node.Czxid
	return ours, nil
}

// resolve returns the entries among the children so that they can be compared
// with ours. If the server had a number left for ours, all entries without one
// come after it, and their order does not matter.
func (c *contender) resolve(ctx context.Context, ours Entry, children []string) (Contenders, error) {
	of := c.loop.nodes
	all := InListing(children, of.Kinds...)
	if !ours.overflowed() {
		return all, nil
	}
	read, err := readCzxids(ctx, of.Client, of.Path, slices.Collect(all.each))
	if err == nil && ours.Node != "" && !slices.Contains(read, ours) {
		err = errStale // it was deleted after the listing
	}
	return InQueue(read), err
}

// Peek returns the state of the queue without queueing. The result is the same
// as for an attempt that does not wait and finds the lock held. Peek needs a
// loop of ByOrder.
func (l *Loop) Peek(ctx context.Context) (NotAdmitted, error) {
	children, _, err := l.nodes.Client.Children(ctx, l.nodes.Path)
	if reason.Is(err, zk.ErrNoNode) {
		return NotAdmitted{}, nil
	}
	if err != nil {
		return NotAdmitted{}, err
	}
	c := contender{loop: l}
	last := Entry{Seq: math.MaxInt32, Czxid: math.MaxInt64} // we would come after all others
	queue, err := c.resolve(ctx, last, children)
	if err != nil {
		return NotAdmitted{}, err
	}
	now := StandingOf(last, queue, Exclusive)
	c.noteQueue(now.First, now.Ahead)
	c.readHolder(ctx)
	return c.seen, nil
}
