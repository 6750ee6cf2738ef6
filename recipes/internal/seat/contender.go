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

// contender is one attempt's place in the server's queue. It runs the loop of
// Curator's internalLockLoop, with these differences:
//
//   - A node is trusted only in the session that created it. After a session
//     loss a waiter throws its node away and queues again, even if it sees that
//     node at the head of the queue (CURATOR-604).
//   - Only names of the recipe count, and they are ordered by number, not as
//     text. Where the server has no numbers left, the order of creation counts.
//   - Every exit without a grant hands the node to the client's guaranteed
//     delete, which needs no live context.
//   - The caller's deadline is the only one: a waiter sits an outage out.
type contender struct {
	lock  *Lock
	trace *trace.Acquire
	data  []byte            // of our nodes
	node  framework.Created // without a path if there is none yet
	seen  NotAdmitted

	recovery follow.Recovery // it has recovered when we wait in the queue

	own         *ownWatch        // the watch on our node; nil if it was not set
	waits       bool             // as long as ctx lasts
	isNext      bool             // see isNextIn
	isThird     bool             // see isThirdIn
	first       *framework.Watch // on the holder's node, for the third; see awaitTurn
	mayHaveTwin bool             // the create was tried again, or has made two nodes

	told      bool      // the tracer knows the node
	wasBehind bool      // it was behind a node of another
	listed    time.Time // when the listing came that admitted us, or zero
	excluding bool      // that listing has nodes that exclude us

	lane   *lane   // of the goroutines that we make a node for, or nil
	waiter *waiter // of that lane

	Candidate // of a leader; empty for others
}

var (
	// errStale means that our node is gone or belongs to a session that is
	// over, so that we must queue again.
	errStale = errors.New("contender node is stale")

	// errHeld means that others are ahead of us and we do not wait.
	errHeld = errors.New("held")

	// errDue means that it is time to find out who the holder is.
	errDue = errors.New("holder is not known")

	// errAgain means that the queue has changed and must be looked at again.
	errAgain = errors.New("queue has changed")
)

func newContender(l *Lock, a Attempt) *contender {
	c := &contender{lock: l, waits: a.Wait, trace: a.Trace, data: l.NodeData(a)}
	c.recovery.Client, c.recovery.Ends = l.cfg.Client, EndsAcquire
	return c
}

// run queues until a node of ours is admitted, or ctx ends. The session of the
// node was alive when run saw the grant. The caller must delete the node, with a
// guaranteed delete. The watch on it, if there is one, is the caller's, too. A waiter
// retries through every outage; only its context ends it, and the error has the last
// error that it has retried after.
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
			_ = follow.Pause(ctx, c.lock.cfg.Client, &vanished) // the next attempt says that ctx has ended
		}
		c.node = framework.Created{}
	}
}

// refuse ends an attempt that has queued without a grant. It may not have seen the queue.
func (c *contender) refuse(ctx context.Context, err error) *NotAdmitted {
	c.seen.Err = ErrorOf(ctx, err, c.recovery.LastError())
	if !c.seen.Seen.IsZero() {
		c.lock.refused.Store(&refusal{time.Now(), c.seen})
	}
	return &c.seen
}

// queue creates our node, unless there is one, and returns nil when it is admitted. In
// every other case it has the node deleted, or leaves it to another goroutine.
func (c *contender) queue(ctx context.Context) (end error) {
	c.seen, c.told, c.own, c.listed, c.excluding = NotAdmitted{}, false, nil, time.Time{}, false
	if c.node.Path == "" {
		if err := c.enter(ctx); err != nil {
			return err
		}
	}
	end = errAgain // it stays if a hook panics
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
		case c.retries(ctx, err): // our node keeps its place meanwhile
			continue
		default:
			c.tellAbandoned(err)
			c.abandon(ctx, err)
		}
		if !reason.Is(err, errAgain) {
			return err
		}
	}
}

// asPlace is how the nodes of a semaphore's leases are created.
var asPlace = []framework.CreateOption{
	framework.WithMode(framework.EphemeralSequential), framework.WithProtection(), framework.WithParents(),
}

// asContender is how the nodes of contenders are created. The listing that comes
// along saves a round trip.
var asContender = slices.Clip(append(slices.Clip(asPlace), framework.WithSiblings()))

// enter creates our node. Create cleans up after itself.
func (c *contender) enter(ctx context.Context) (err error) {
	opts := asContender
	if c.lock.cfg.Kazoo { // its contenders do not make a path again that a server has removed
		opts = append(opts, framework.WithPersistentParents())
	}
	c.node, err = c.lock.cfg.Client.Create(ctx, c.lock.newNode, c.data, opts...)
	c.listed, c.mayHaveTwin = time.Now(), c.recovery.LastError() != nil
	return err
}

// abandon gives our node up. The driver of a lane leaves it to the next one, if it
// goes itself and nothing is wrong with the node.
func (c *contender) abandon(ctx context.Context, err error) {
	goes := reason.Is(err, errHeld) || err != nil && ctx.Err() != nil
	switch {
	case c.lane != nil && goes && c.node.Session.Context().Err() == nil && c.lane.passOn(c.waiter, c):
		if c.own != nil {
			c.own.watch.Stop() // the next one sets another
		}
	case c.OnAbandon != nil:
		c.OnAbandon(ctx, c.node)
	default:
		c.discard(ctx)
	}
}

// discard deletes our node, whatever happens. It waits for the deletion unless ctx
// has ended. In any case the server handles the caller's next request after the
// deletion.
func (c *contender) discard(ctx context.Context) {
	if client := c.lock.cfg.Client; ctx.Err() == nil {
		client.Delete(ctx, c.node.Path, framework.AnyVersion, framework.WithGuarantee())
	} else {
		framework.Extend(client).DeleteInBackground(c.node.Path)
	}
}

// distrust has a node deleted that was admitted, and that an interruption between the
// grant and now has made doubtful. All was well then.
func (c *contender) distrust() {
	framework.Extend(c.lock.cfg.Client).DeleteInBackground(c.node.Path)
	c.trace.Distrusted(c.lock.cfg.Client, c.node)
	c.node = framework.Created{}
	c.recovery.Note(nil)
}

// retries reports whether to go on after an error, when it is time to.
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

// children lists the lock's path. The first time, it returns the listing that
// came with the node. It returns errStale if our node is not good any more.
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

// checkSession returns what is wrong with a look at the queue.
func (c *contender) checkSession(err error) error {
	if c.node.Session.Context().Err() != nil || reason.Is(err, zk.ErrNoNode) {
		return errStale
	}
	return err
}

// withoutTwins deletes other nodes of the create that has made ours, and
// returns the names without them.
//
// There is one at most: Create looks for its node before it asks for another.
// If a server has misled it, we would wait for ourselves, and all others behind
// us, for as long as our session lives. The id in the names is new for each
// create, so no node of another contender of this client has it.
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

// granted returns an error if ctx has ended. A grant that comes after the caller has gone
// is an error: no caller would release it.
func granted(ctx context.Context) error {
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

// tellBlocked is called before a wait for others. All is well then.
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
