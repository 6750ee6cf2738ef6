package seat

import (
	"context"
	"fmt"
	"path"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/locktrace"
)

// step reads the queue once. It returns nil if the contender is admitted, and errAgain
// when the queue has changed since.
func (c *contender) step(ctx context.Context) error {
	c.isNext = false
	now, err := c.standing(ctx)
	if err != nil {
		return err
	}
	if !c.told {
		c.told = true
		c.trace.Queued(c.node, now.Ahead, now.Length)
	}
	if now.Blocker == "" {
		return stillWanted(ctx)
	}
	c.noteQueue(now.First, now.Ahead)
	if !c.waits {
		c.readHolder(ctx)
		return errHeld
	}
	return c.waitFor(ctx, now)
}

// standing returns the contender's position in the queue.
func (c *contender) standing(ctx context.Context) (order.Standing, error) {
	children, err := c.children(ctx)
	if err != nil {
		return order.Standing{}, err
	}
	name := path.Base(c.node.Path)
	ours, ok := order.Parse(name, c.lock.cfg.Kinds)
	if !ok { // no server appends such a number
		return order.Standing{}, fmt.Errorf("%w: node %q has no sequence number", ErrCorrupted, name)
	}
	ours.Czxid = c.node.Czxid
	queue, err := c.lock.resolve(ctx, ours, children)
	if err != nil {
		return order.Standing{}, err
	}
	if c.lock.isShared() {
		c.excluding = !order.IsAlone(ours.Node, children, c.lock.excluding()...)
	}
	return order.StandingOf(ours, queue, c.lock.cfg.Blocks), nil
}

// noteQueue records the state of the queue. If the holder has changed, it discards the
// data of the old holder.
func (c *contender) noteQueue(holder string, ahead int) {
	if holder != c.seen.Holder {
		c.seen = NotAdmitted{Holder: holder}
	}
	c.seen.Seen, c.seen.Ahead = time.Now(), ahead
}

// blocker is the node for which a contender waits, with a watch on it.
type blocker struct {
	node  string
	data  []byte
	stat  *zk.Stat
	watch *framework.Watch
}

// isGone reports whether a watch has fired because its node was deleted.
func isGone(w *framework.Watch) bool {
	if !isDone(w) {
		return false // another event has ended the wait
	}
	event, err := w.Event()
	return err == nil && event.Type == zk.EventNodeDeleted
}

func isDone(w *framework.Watch) bool {
	select {
	case <-w.Done():
		return true
	default:
		return false
	}
}

// waitFor waits for the blocking node. It returns nil if the contender is first after
// that, and errAgain if the queue may have changed otherwise. It sets the watch by
// reading the node: an exists request would leave a watch behind if the node is already
// gone (CURATOR-107).
func (c *contender) waitFor(ctx context.Context, now order.Standing) (err error) {
	b := &blocker{node: now.Blocker}
	b.data, b.stat, b.watch, err = c.lock.cfg.Client.GetW(ctx, znode.Join(c.lock.cfg.Path, b.node))
	if reason.Is(err, zk.ErrNoNode) {
		return errAgain
	}
	if err != nil {
		return err
	}
	defer b.watch.Stop()
	defer c.forgetHolder()
	c.noteOwner(b.node, b.stat)
	if b.node == c.seen.Holder {
		c.noteHolder(b.data, b.stat)
	}
	c.wasBehind = c.wasBehind || b.stat.EphemeralOwner != c.node.Session.ID()
	c.isNext, c.isThird = c.isNextIn(now, b), c.isThirdIn(now)
	if err := c.watchSelf(ctx); err != nil {
		return err
	}
	if err := c.awaitChange(ctx, b); !reason.Is(err, errAgain) || !c.isFirst(b) {
		return err
	}
	if err := c.checkSession(nil); err != nil {
		return err
	}
	c.listed, c.excluding = time.Time{}, false // the last listing still has the deleted node, and may lack newer ones
	return stillWanted(ctx)
}

// awaitChange waits for a change of the blocker. It reports the wait to the tracer when
// the holder is known, or at the end of the wait.
func (c *contender) awaitChange(ctx context.Context, b *blocker) error {
	c.tellBlocked()
	err := c.awaitHolder(ctx, b)
	ahead := locktrace.Contender{Node: b.node, Data: order.Clip(b.data), Since: time.UnixMilli(b.stat.Ctime)}
	c.trace.Waiting(locktrace.Waiting{Position: c.seen.Ahead, Ahead: ahead, Holder: c.holder()})
	if err == nil {
		err = c.awaitTurn(ctx, b)
	}
	if reason.Is(err, errAgain) {
		c.trace.Woken(isGone(b.watch))
	}
	return err
}

// holder returns what is known about the holder.
func (c *contender) holder() locktrace.Contender {
	return locktrace.Contender{Node: c.seen.Holder, Data: c.seen.HolderData, Since: c.seen.HolderSince}
}

// changes are the events for which a contender waits. Each may be nil.
type changes [3]<-chan struct{}

// await returns errAgain at the first change, and errDue when due fires.
func (c *contender) await(ctx context.Context, first changes, due <-chan time.Time) error {
	session := c.node.Session.Context()
	select {
	case <-first[0]:
		return errAgain
	case <-first[1]:
		return errAgain
	case <-first[2]:
		return errAgain
	case <-session.Done():
		return errStale
	case <-ctx.Done():
		return reason.OfContext(ctx)
	case <-due:
		return errDue
	}
}

// holderAfter is how long a contender waits before it reads the holder's node, if that is
// not the blocking node. Most waits are shorter. If locks are held only for a short time,
// the holder would be gone before the read.
const holderAfter = 200 * time.Millisecond

// whenToRead returns the delay before the holder is read. If ctx ends soon, half of the
// remaining time is left for the reply, so that the error can name the holder.
func (c *contender) whenToRead(ctx context.Context) time.Duration {
	after := holderAfter
	if c.isThird {
		after = thirdAfter
	}
	if deadline, ok := ctx.Deadline(); ok {
		after = min(after, max(time.Until(deadline)/2, 0))
	}
	return after
}

// awaitHolder returns nil when the holder is known or was read. If the wait ends before
// that, it returns the result of await.
func (c *contender) awaitHolder(ctx context.Context, b *blocker) error {
	if (c.seen.hasRead() || c.seen.Holder == b.node) && !c.isThird {
		return nil
	}
	due := time.NewTimer(c.whenToRead(ctx))
	defer due.Stop()
	if err := c.await(ctx, changes{b.watch.Done(), c.own.changed()}, due.C); !reason.Is(err, errDue) {
		return err
	}
	under, cancel := context.WithCancel(ctx)
	defer cancel()
	defer b.watch.AfterFunc(cancel)() // the reply is not needed once it is our turn
	if c.isThird {
		c.watchHolder(under)
	} else {
		c.readHolder(under)
	}
	if c.seen.hasRead() {
		c.tellBlocked()
	}
	return nil
}

// forgetHolder removes the watch that watchHolder has set.
func (c *contender) forgetHolder() {
	if c.first != nil {
		c.first.Stop()
		c.first = nil
	}
}

// watchHolder is readHolder with a watch. The contender must remove the watch.
func (c *contender) watchHolder(ctx context.Context) {
	under, answered := beyond(ctx)
	data, stat, watch, err := c.lock.cfg.Client.GetW(under, znode.Join(c.lock.cfg.Path, c.seen.Holder))
	if answered(err) == nil {
		c.first = watch
		c.noteHolder(data, stat)
	}
}

// readHolder reads the holder's node for the caller's error, unless it is known. If the
// read fails, the attempt continues.
func (c *contender) readHolder(ctx context.Context) {
	if c.seen.Holder == "" || c.seen.hasRead() {
		return
	}
	data, stat, err := c.lock.cfg.Client.Get(ctx, znode.Join(c.lock.cfg.Path, c.seen.Holder))
	if err == nil {
		c.noteHolder(data, stat)
	}
}

func (c *contender) noteHolder(data []byte, stat *zk.Stat) {
	c.seen.HolderData, c.seen.HolderSession = order.Clip(data), stat.EphemeralOwner
	c.seen.HolderSince = time.UnixMilli(stat.Ctime)
	c.noteOwner(c.seen.Holder, stat)
}

// beyond returns a context for a request that sets a watch. The request ends with ctx,
// but the watch does not. The caller must pass the request's error to the returned
// function, which returns the error for the caller.
func beyond(ctx context.Context) (under context.Context, answered func(error) error) {
	under, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return under, func(err error) error {
		if !release() {
			return reason.OfContext(ctx)
		}
		if err != nil {
			cancel(err)
		}
		return err
	}
}
