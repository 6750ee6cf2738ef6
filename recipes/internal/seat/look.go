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
	"github.com/gocurator/curator/recipes/internal/event"
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
	c.tellWaiting(b)
	if err == nil {
		err = c.awaitTurn(ctx, b)
	}
	if reason.Is(err, errAgain) {
		c.trace.Woken(isGone(b.watch))
	}
	return err
}

func (c *contender) tellWaiting(b *blocker) {
	ahead := locktrace.Contender{Node: b.node, Data: order.Clip(b.data), Since: time.UnixMilli(b.stat.Ctime)}
	c.trace.Waiting(locktrace.Waiting{Position: c.seen.Ahead, Ahead: ahead, Holder: c.holder()})
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

var eventUnowned = event.Kind{Warn: "no session owns this node; only deleting it frees the lock"}

// noteOwner looks at the owner of a node ahead. A node that no session owns stays until
// somebody deletes it: a tool has made it, or a backup was restored. A contender that
// waits says so in the log, once for each lock object.
func (c *contender) noteOwner(node string, stat *zk.Stat) {
	if stat.EphemeralOwner != 0 || !c.waits || !c.lock.warnedUnowned.CompareAndSwap(false, true) {
		return
	}
	of := &c.lock.cfg
	event.OfLock(of.Client, of.Path).Emit(eventUnowned, nil, event.Of(of.Client, znode.Join(of.Path, node)).Path())
}
