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

// step looks at the queue once. It returns nil if the contender is admitted, and
// errAgain when the queue has changed since.
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
		return granted(ctx)
	}
	c.noteQueue(now.First, now.Ahead)
	if !c.waits {
		c.readHolder(ctx)
		return errHeld
	}
	return c.waitFor(ctx, now)
}

// standing finds our position in the queue.
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

// noteQueue records the state of the queue. It forgets the data of another
// holder.
func (c *contender) noteQueue(holder string, ahead int) {
	if holder != c.seen.Holder {
		c.seen = NotAdmitted{Holder: holder}
	}
	c.seen.Seen, c.seen.Ahead = time.Now(), ahead
}

// blocker is the node that a contender waits for, with a watch on it.
type blocker struct {
	node  string
	data  []byte
	stat  *zk.Stat
	watch *framework.Watch
}

// isGone reports whether a watch has fired because its node was deleted.
func isGone(w *framework.Watch) bool {
	if !isDone(w) {
		return false // another event has woken us
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

// waitFor waits for the node that blocks us. It returns nil if that makes us the
// first, and errAgain when the queue may have changed otherwise. It sets the
// watch by reading the node. Asking for its existence would leave a watch behind
// on a node that is gone already (CURATOR-107).
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
	c.listed, c.excluding = time.Time{}, false // the last listing has the node that is gone, and may lack newer ones
	return granted(ctx)
}

// awaitChange waits for a blocker. It tells the observer what we wait for when it
// knows the holder, or at the end of the wait.
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

// holder returns what is known of the holder.
func (c *contender) holder() locktrace.Contender {
	return locktrace.Contender{Node: c.seen.Holder, Data: c.seen.HolderData, Since: c.seen.HolderSince}
}

// changes are what a contender waits for. Each may be nil.
type changes [3]<-chan struct{}

// await returns errAgain at the first of the changes, and errDue at a time.
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

// holderAfter is how long a contender waits before it reads the holder's node,
// unless that is the node which it waits for. Most waits are shorter. And where
// locks are held for a short time, the holder is gone when it is asked for.
const holderAfter = 200 * time.Millisecond

// whenToRead returns how long to wait before the holder is read. If ctx ends
// soon, half of its time is left for the answer, so that the error can name the
// holder.
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

// awaitHolder returns nil when we know the holder, or have asked for it. It
// returns what await does if the wait is over before.
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
	defer b.watch.AfterFunc(cancel)() // nobody waits for this answer when it is our turn
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

// forgetHolder stops the watch that watchHolder has set.
func (c *contender) forgetHolder() {
	if c.first != nil {
		c.first.Stop()
		c.first = nil
	}
}

// watchHolder is readHolder with a watch, which is ours to stop.
func (c *contender) watchHolder(ctx context.Context) {
	under, answered := beyond(ctx)
	data, stat, watch, err := c.lock.cfg.Client.GetW(under, znode.Join(c.lock.cfg.Path, c.seen.Holder))
	if answered(err) == nil {
		c.first = watch
		c.noteHolder(data, stat)
	}
}

// readHolder finds out who holds the lock, for the caller's error, unless that is known.
// The attempt does not fail if that does not work.
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

// beyond returns a context for a request that sets a watch. The request ends with ctx.
// The watch does not. The function returned must be called with the request's error,
// and returns the error for the caller.
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
