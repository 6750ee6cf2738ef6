package barriers

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/identity"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// entry is one Enter. It makes a node in each session that it lives in. They
// have the same name but for the number of the attempt, so that a node that a
// lost session has left, or that a late request makes, is never counted beside
// another one.
type entry struct {
	follow.Loop
	barrier  *DoubleBarrier
	base     string // of the names
	attempts int
	vanished pauses.Growing
	data     []byte
	name     string            // of the newest node; empty before the first attempt
	node     framework.Created // of the present session; zero if it is gone

	seen        int  // members that were there at the last look
	responsible bool // as far as we know, n members wait, and we must open

	round   []string // the names of the members, once the barrier is open
	passage *Passage // once this one has entered
}

func (b *DoubleBarrier) newEntry() *entry {
	now := time.Now()
	e := &entry{
		barrier:  b,
		base:     b.layout.newName(now),
		data:     identity.Node(identity.Own(framework.Extend(b.client).ServiceName()), now, nil),
		vanished: pauses.Vanished(),
	}
	e.vanished.Longest = time.Second // others wait for this one
	e.Client, e.Ends, e.Look = b.client, endsCall, e.look
	e.Awaited = true // by the caller, and by the other members
	return e
}

func (e *entry) path() string { return e.barrier.child(e.name) }

// enter enters, or leaves nothing behind.
func (e *entry) enter(ctx context.Context) error {
	err := e.Run(ctx)
	if err == nil {
		e.passage, err = newPassage(ctx, e)
		return err
	}
	e.discard(ctx)
	if !reason.IsOfContext(ctx, err) {
		return err
	}
	e.lookOnceMore(ctx)
	return fmt.Errorf("%w: %d of %d were there: %w", ErrNotEntered, e.seen, e.barrier.n, e.GaveUp(ctx))
}

// abandon leaves nothing behind, whatever has come of this Enter.
func (e *entry) abandon() {
	switch {
	case e.passage != nil:
		e.passage.abandon()
	case e.name != "":
		framework.Extend(e.barrier.client).DeleteInBackground(e.path())
	}
}

// look enters as the layout says. If the member's node goes meanwhile, the next
// look makes another one.
func (e *entry) look(ctx context.Context, s *framework.Session) error {
	err := e.barrier.layout.enter(ctx, e, s)
	if e.node.Session == s && reason.Is(err, zk.ErrNoNode) {
		e.node = framework.Created{}
		return e.vanished.Wait(ctx)
	}
	return err
}

// create creates a node, unless there is one of this session.
func (e *entry) create(ctx context.Context, s *framework.Session) error {
	if e.node.Session == s {
		return nil
	}
	e.discard(ctx)
	e.attempts++
	e.name = fmt.Sprintf("%s.%d", e.base, e.attempts)
	node, err := e.barrier.client.Create(ctx, e.path(), e.data,
		framework.WithMode(framework.Ephemeral), framework.WithParents(), framework.WithSiblings())
	if err != nil {
		return err
	}
	e.node, e.seen = node, len(node.Siblings)
	e.responsible = node.Siblings == nil || len(node.Siblings) >= e.barrier.n
	return nil
}

// ownWatchDelay is how long a member waits before it watches its own node. Only
// an operator deletes that, and most waits are shorter.
const ownWatchDelay = time.Second

// awaitChange waits for the watch of what opens the barrier: the rounds, or the
// node "ready" in Curator's layout. It is zk.ErrNoNode if the member's node is
// deleted meanwhile.
func (e *entry) awaitChange(ctx context.Context, opening *framework.Watch) error {
	defer opening.Stop()
	e.Recovered()
	changed, err := changesBefore(ctx, opening, time.After(ownWatchDelay))
	for !changed && err == nil {
		changed, err = e.awaitOwnChange(ctx, opening)
	}
	return err
}

// awaitOwnChange waits for the first change of the two: of the opening, which it
// reports, or of the member's node.
func (e *entry) awaitOwnChange(ctx context.Context, opening *framework.Watch) (opened bool, err error) {
	c := e.barrier.client
	there, _, own, err := c.ExistsW(ctx, e.path())
	if err != nil {
		return false, err
	}
	defer own.Stop()
	e.Recovered()
	if !there {
		framework.Extend(c).Logger().Warn("member of a double barrier was deleted while it waited, and enters again",
			logPath(c, e.path()), semconv.SessionID, sessionText(e.node.Session.ID()))
		return false, zk.ErrNoNode
	}
	return changesBefore(ctx, opening, own.Done())
}

// changesBefore reports whether the watch tells of a change before something
// else happens.
func changesBefore[T any](ctx context.Context, w *framework.Watch, other <-chan T) (bool, error) {
	select {
	case <-w.Done():
		return true, nil
	case <-other:
		return false, nil
	case <-ctx.Done():
		return false, reason.OfContext(ctx)
	}
}

// lookOnceMore counts the members when this one has given up. The context has
// ended, so the look has half a second of its own, if there is a connection.
func (e *entry) lookOnceMore(ctx context.Context) {
	c := e.barrier.client
	if e.seen == 0 || !c.State().IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if there, err := e.barrier.layout.look(ctx); err == nil {
		e.seen = len(but(there.waiting, e.name)) + 1
	}
}

// discard deletes the newest node, if there is one or may be.
func (e *entry) discard(ctx context.Context) {
	e.node = framework.Created{}
	if e.name != "" {
		lockloop.Discard(ctx, e.barrier.client, e.path())
	}
}
