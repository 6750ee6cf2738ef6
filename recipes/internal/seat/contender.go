package seat

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/internal/trace"
)

// contender is one attempt's place in the server's queue. It runs the loop of Curator's
// internalLockLoop, with these differences:
//
//   - A node is trusted only in the session that created it. After a lost session, a
//     waiter abandons its node and queues again, even if it sees the node at the head of
//     the queue (CURATOR-604).
//   - Only names of the recipe count, and they are ordered by number, not as text. When
//     the server has no numbers left, the order of creation counts.
//   - Every exit without a grant hands the node to the client's guaranteed delete, which
//     does not depend on the caller's context.
//   - The caller's deadline is the only limit: a waiter retries through outages.
type contender struct {
	lock  *Lock
	trace *trace.Acquire
	data  []byte            // the data of its nodes
	node  framework.Created // has no path if there is no node yet
	seen  NotAdmitted

	recovery follow.Recovery // it has recovered when the contender waits in the queue

	own         *ownWatch        // the watch on the contender's node; nil if it was not set
	waits       bool             // until ctx ends
	isNext      bool             // see isNextIn
	isThird     bool             // see isThirdIn
	first       *framework.Watch // on the holder's node, for the third contender; see awaitTurn
	mayHaveTwin bool             // the create was repeated, or has created two nodes

	told      bool      // the node was reported to the tracer
	wasBehind bool      // the node was behind another client's node
	listed    time.Time // when the listing that admitted the contender arrived, or zero
	excluding bool      // that listing has nodes that exclude the contender

	lane   *lane   // the lane of the goroutines for which the contender creates a node, or nil
	waiter *waiter // the driver in that lane

	Candidate // of a leader; otherwise empty
}

var (
	// errStale means that the contender's node is gone or belongs to a session that is
	// over. The contender must queue again.
	errStale = errors.New("contender node is stale")

	// errHeld means that other contenders are ahead and this one must not wait.
	errHeld = errors.New("held")

	// errDue means that it is time to read the holder's node.
	errDue = errors.New("holder is not known")

	// errAgain means that the queue has changed and must be read again.
	errAgain = errors.New("queue has changed")
)

func newContender(l *Lock, a Attempt) *contender {
	c := &contender{lock: l, waits: a.Wait, trace: a.Trace, data: l.NodeData(a)}
	c.recovery.Client, c.recovery.Ends = l.cfg.Client, EndsAcquire
	return c
}

// run queues until the contender's node is admitted, or ctx ends. The session of the node
// was alive when run saw the grant. The caller must delete the node with a guaranteed
// delete, and owns the watch on it, if there is one. A waiter retries through every
// outage; only the end of its context stops the retries, and the returned error then
// includes the last error of an attempt.
func (c *contender) run(ctx context.Context) *NotAdmitted {
	ctx = framework.Extend(c.lock.cfg.Client).OnError(ctx, c.recovery.Note)
	vanished := pauses.Vanished()
	for {
		err := c.queue(ctx)
		if err == nil {
			c.lock.refused.Store(nil)
			return nil
		}
		if ctx.Err() != nil || !reason.Is(err, errStale) && !c.retries(ctx, err) {
			return c.refuse(ctx, err)
		}
		if reason.Is(err, errStale) && c.node.Session.Context().Err() == nil {
			_ = follow.Pause(ctx, c.lock.cfg.Client, &vanished) // if ctx has ended, the next attempt returns its error
		}
		c.node = framework.Created{}
	}
}

// refuse returns the refusal of an attempt that ended without a grant. The attempt may
// not have seen the queue.
func (c *contender) refuse(ctx context.Context, err error) *NotAdmitted {
	c.seen.Err = ErrorOf(ctx, err, c.recovery.LastError())
	if !c.seen.Seen.IsZero() {
		c.lock.refused.Store(&refusal{time.Now(), c.seen})
	}
	return &c.seen
}

// queue creates the contender's node, unless there is one, and returns nil when it is
// admitted. Otherwise queue deletes the node, or leaves the node to another goroutine.
func (c *contender) queue(ctx context.Context) (end error) {
	c.seen, c.told, c.own, c.listed, c.excluding = NotAdmitted{}, false, nil, time.Time{}, false
	if c.node.Path == "" {
		if err := c.enter(ctx); err != nil {
			return err
		}
	}
	end = errAgain // kept if a hook panics
	defer func() {
		if reason.Is(end, errAgain) {
			c.discard(Ended)
		}
	}()
	for {
		err := c.step(ctx)
		switch {
		case err == nil, reason.Is(err, errAgain):
			c.recovery.Recovered()
		case c.retries(ctx, err): // the node keeps its place meanwhile
			continue
		default:
			c.tellAbandoned(err)
			c.leaveQueue(ctx, err)
		}
		if !reason.Is(err, errAgain) {
			return err
		}
	}
}

// asPlace has the options for creating the nodes of a semaphore's leases.
var asPlace = []framework.CreateOption{
	framework.WithMode(framework.EphemeralSequential), framework.WithProtection(), framework.WithParents(),
}

// asContender has the options for creating the nodes of contenders. The listing in the
// same request saves a round trip.
var asContender = slices.Clip(append(slices.Clip(asPlace), framework.WithSiblings()))

// enter creates the contender's node. After a failure, Create cleans up.
func (c *contender) enter(ctx context.Context) (err error) {
	opts := asContender
	if c.lock.cfg.Kazoo { // kazoo's contenders do not re-create a path that a server has removed
		opts = append(opts, framework.WithPersistentParents())
	}
	c.node, err = c.lock.cfg.Client.Create(ctx, c.lock.newNode, c.data, opts...)
	c.listed, c.mayHaveTwin = time.Now(), c.recovery.LastError() != nil
	return err
}

// leaveQueue ends a wait without a grant. The driver of a lane leaves a good node to the
// next driver if it gives up for its own reasons. In every other case the node is deleted.
func (c *contender) leaveQueue(ctx context.Context, err error) {
	goes := reason.Is(err, errHeld) || err != nil && ctx.Err() != nil
	switch {
	case c.lane != nil && goes && c.node.Session.Context().Err() == nil && c.lane.passOn(c.waiter, c):
		if c.own != nil {
			c.own.watch.Stop() // the next driver sets another watch
		}
	case c.OnAbandon != nil:
		c.OnAbandon(ctx, c.node)
	default:
		c.discard(ctx)
	}
}

// discard always deletes the contender's node. It waits for the deletion unless ctx has
// ended. In either case the server handles the caller's next request after the deletion.
func (c *contender) discard(ctx context.Context) {
	if client := c.lock.cfg.Client; ctx.Err() == nil {
		client.Delete(ctx, c.node.Path, framework.AnyVersion, framework.WithGuarantee())
	} else {
		framework.Extend(client).DeleteInBackground(c.node.Path)
	}
}

// distrust deletes a node that was admitted, but became doubtful by an interruption after
// the grant. The grant also cleared the last error.
func (c *contender) distrust() {
	framework.Extend(c.lock.cfg.Client).DeleteInBackground(c.node.Path)
	c.trace.Distrusted(c.lock.cfg.Client, c.node)
	c.node = framework.Created{}
	c.recovery.Note(nil)
}

// retries waits until it is time to retry after an error. It returns false if the
// contender must not retry.
func (c *contender) retries(ctx context.Context, err error) bool {
	if !c.waits {
		return false
	}
	if c.lane != nil && ctx.Err() == nil && !EndsAcquire(err) {
		c.lane.noteOutage(err)
		defer c.lane.noteOutage(nil)
	}
	return c.recovery.Wait(ctx, err) == nil
}

// children lists the lock's path. The first time, it returns the listing that came with
// the create. It returns errStale if the contender's node is no longer valid.
func (c *contender) children(ctx context.Context) ([]string, error) {
	names, err := c.node.Siblings, error(nil)
	if names == nil {
		names, err = insider.Of(c.lock.cfg.Client).Siblings(ctx, c.lock.cfg.Path)
		c.listed = time.Now()
	}
	c.node.Siblings = nil
	if err := c.checkSession(err); err != nil {
		return nil, err
	}
	if !slices.Contains(names, path.Base(c.node.Path)) {
		return nil, errStale
	}
	c.lock.warnOfOthers(names)
	return c.withoutTwins(names), nil
}

// checkSession returns errStale if the session or the node is gone, and otherwise the
// error.
func (c *contender) checkSession(err error) error {
	if c.node.Session.Context().Err() != nil || reason.Is(err, zk.ErrNoNode) {
		return errStale
	}
	return err
}

// withoutTwins deletes other nodes of the create that has created the contender's node,
// and returns the names without them.
//
// There is at most one such node, a twin: Create looks for its node before it creates
// another, but a lagging server may hide the node. The contender, and all contenders behind
// it, would wait for the twin as long as the session lives. The id in the names is new for
// each create, so no other contender has it.
func (c *contender) withoutTwins(names []string) []string {
	ours := path.Base(c.node.Path)
	id := order.CreateID(ours, c.lock.cfg.Kind)
	return slices.DeleteFunc(names, func(name string) bool {
		isTwin := id != "" && name != ours && strings.HasPrefix(name, id)
		if isTwin {
			c.mayHaveTwin = true
			framework.Extend(c.lock.cfg.Client).DeleteInBackground(znode.Join(c.lock.cfg.Path, name))
		}
		return isTwin
	})
}

// stillWanted returns an error if ctx has ended. A grant after the caller has given up
// must fail, because no caller would release it.
func stillWanted(ctx context.Context) error {
	if ctx.Err() != nil {
		return reason.OfContext(ctx)
	}
	return nil
}

func (c *contender) tellAbandoned(err error) {
	if reason.Is(err, errHeld) {
		return
	}
	if over := c.node.Session.Context(); reason.Is(err, errStale) && over.Err() != nil {
		err = context.Cause(over)
	}
	c.trace.Abandoned(err)
}

// tellBlocked is called before a wait for other contenders. It clears the last error.
func (c *contender) tellBlocked() {
	c.recovery.Recovered()
	switch {
	case c.lane != nil:
		c.lane.noteBlocked(c)
	case c.OnBlocked != nil:
		c.OnBlocked(c.seen)
	}
}

var eventUnowned = event.Kind{Warn: "no session owns this node; only deleting it frees the lock"}

// noteOwner checks the owner of a node ahead. A node without an owning session was
// created by a tool or restored from a backup, and stays until a client deletes it. A
// waiting contender logs such a node, once for each lock object.
func (c *contender) noteOwner(node string, stat *zk.Stat) {
	if stat.EphemeralOwner != 0 || !c.waits || !c.lock.warnedUnowned.CompareAndSwap(false, true) {
		return
	}
	of := &c.lock.cfg
	event.OfLock(of.Client, of.Path).Emit(eventUnowned, nil, event.Of(of.Client, znode.Join(of.Path, node)).Path())
}
