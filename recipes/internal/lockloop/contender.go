package lockloop

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// contender is one attempt's place in the queue.
type contender struct {
	loop    *Loop
	attempt Attempt
	node    framework.Created
	seen    NotAdmitted
	queued  bool // the observer was told of the node

	recovery follow.Recovery // its trouble is over when we wait in the queue

	own         *OwnWatch // the watch on our node; nil if it was not set
	isNext      bool      // see isNextIn
	mayHaveTwin bool      // the create was tried again, or has made two nodes

	refused *refusal // for a look: the refusal before it; see LookFirst

	// These are for a contender that looks together with others; see [Crowd].
	looked bool     // we have looked since our node was made, or have to
	since  *blocker // what has just changed, until we look
}

func newContender(l *Loop, a Attempt) *contender {
	c := &contender{loop: l, attempt: a}
	c.recovery.Client, c.recovery.Ends = l.nodes.Client, EndsAcquire
	c.recovery.Note(a.Trouble)
	c.recovery.Tell = a.OnTrouble
	return c
}

// queue creates our node and returns nil when it is admitted. In every other
// case it has the node deleted.
func (c *contender) queue(ctx context.Context) (err error) {
	c.seen, c.queued, c.looked = NotAdmitted{}, false, false
	c.own, c.mayHaveTwin = nil, false
	if err := c.enter(ctx); err != nil {
		return err
	}
	admitted := false // stays false if the user's code panics, such as a retry policy
	defer func() {
		if !admitted {
			c.abandon(ctx)
		}
	}()
	defer func() {
		if err != nil {
			c.tellAbandoned(err)
		}
	}()
	for {
		err := c.loop.order.step(ctx, c)
		switch {
		case reason.Is(err, errAgain):
			c.recovery.Recovered()
		case err != nil && c.outlasts(ctx, err): // our node keeps its place meanwhile
		case err != nil:
			return err
		default:
			c.recovery.Recovered()
			admitted = true
			return nil
		}
	}
}

// enter creates our node, unless there is one to resume with. Create cleans up
// after itself.
func (c *contender) enter(ctx context.Context) (err error) {
	if resumed := c.attempt.Resume; resumed != nil {
		c.node, c.attempt.Resume = *resumed, nil
		return nil
	}
	opts := asContender
	if c.attempt.Crowd.enter(c.mayFollow()) {
		opts = asContenderThatLooks
	}
	c.node, err = c.create(ctx, opts)
	c.mayHaveTwin = c.recovery.Trouble() != nil
	if err == nil && c.attempt.OnQueued != nil {
		c.attempt.OnQueued(c.node)
	}
	return err
}

// These are how the nodes of contenders are created. They are made once, and not
// for each node.
var (
	asContender = []framework.CreateOption{
		framework.WithMode(framework.EphemeralSequential), framework.WithProtection(), framework.WithParents(),
	}
	asContenderThatLooks = append(slices.Clip(asContender), framework.WithSiblings())
)

func (c *contender) create(ctx context.Context, opts []framework.CreateOption) (framework.Created, error) {
	defer c.attempt.Crowd.entered() // the user's code may panic, such as an ACL provider
	of := c.loop.nodes
	if c.attempt.Crowd != nil {
		ctx = framework.Extend(of.Client).OnTrouble(ctx, c.noteRetry)
	}
	return of.Client.Create(ctx, c.loop.newNode, c.attempt.Data, opts...)
}

// noteRetry is told that our create is tried again, so that there may be a
// second node of it. Only a look finds that.
func (c *contender) noteRetry(error) {
	c.looked = true
}

func (c *contender) abandon(ctx context.Context) {
	if c.attempt.OnAbandon != nil {
		c.attempt.OnAbandon(ctx, c.node)
		return
	}
	Discard(ctx, c.loop.nodes.Client, c.node.Path)
}

// queuesAgain reports whether to make another node after an error, when it is
// time to.
func (c *contender) queuesAgain(ctx context.Context, err error) bool {
	return reason.Is(err, errStale) || c.outlasts(ctx, err)
}

// outlasts reports whether to go on after an error, when it is time to.
func (c *contender) outlasts(ctx context.Context, err error) bool {
	return c.attempt.Wait && c.recovery.Wait(ctx, err) == nil
}

// children lists the lock's path. The first time, it returns the listing that
// came with the node. It returns errStale if our node is not good any more.
func (c *contender) children(ctx context.Context) ([]string, error) {
	names, err := c.node.Siblings, error(nil)
	if names == nil {
		names, _, err = c.loop.nodes.Client.Children(ctx, c.loop.nodes.Path)
	}
	c.node.Siblings = nil
	if err := c.check(names, err); err != nil {
		return nil, err
	}
	c.warnOfOthers(names)
	return c.withoutTwins(names), nil
}

// check returns what is wrong with a listing.
func (c *contender) check(names []string, err error) error {
	if err := c.checkSession(err); err != nil {
		return err
	}
	if !slices.Contains(names, path.Base(c.node.Path)) {
		return errStale
	}
	return nil
}

// granted ends a step that has found our node admitted. A grant that comes
// after the caller has gone is an error: no caller would release it.
func granted(ctx context.Context) error {
	if ctx.Err() != nil {
		return reason.OfContext(ctx)
	}
	return nil
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

// noteQueue records the state of the queue. It forgets the data of another
// holder.
func (c *contender) noteQueue(holder string, ahead int) {
	if holder != c.seen.Holder {
		c.seen = NotAdmitted{Holder: holder}
	}
	if c.seen.Unowned != holder { // it may be gone, and is read again if it is the next ahead
		c.seen.Unowned = ""
	}
	c.seen.Seen, c.seen.Ahead = time.Now(), ahead
}

// readHolder finds out who holds the lock, for the caller's error. The attempt
// does not fail if that does not work.
func (c *contender) readHolder(ctx context.Context) {
	if c.seen.Holder == "" {
		return
	}
	data, stat, err := c.loop.nodes.Client.Get(ctx, znode.Join(c.loop.nodes.Path, c.seen.Holder))
	if err == nil {
		c.noteHolder(data, stat)
	}
}

// readNewHolder is readHolder for a holder whose data is not known yet. It
// costs one request for each holder that a waiter sees.
func (c *contender) readNewHolder(ctx context.Context) {
	if c.seen.HolderSince.IsZero() {
		c.readHolder(ctx)
	}
}

func (c *contender) noteHolder(data []byte, stat *zk.Stat) {
	c.seen.HolderData, c.seen.HolderSession = Clip(data), stat.EphemeralOwner
	c.seen.HolderSince = time.UnixMilli(stat.Ctime)
	c.noteOwner(c.seen.Holder, stat)
}

// tellBlocked is called before a wait for others. All is well then.
func (c *contender) tellBlocked() {
	c.recovery.Recovered()
	if c.attempt.OnBlocked != nil {
		c.attempt.OnBlocked(c.seen)
	}
}
