package barriers

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// entry is one Enter. It makes a node in each session that it lives in. They
// have the same name but for the number of the attempt, so that a node that a
// lost session has left, or that a late request makes, is never counted beside
// another one.
type entry struct {
	call
	*DoubleBarrier
	base     string // begins the names
	attempts int
	vanished pauses.Growing
	beaten   pauses.Growing // others were first
	data     []byte
	name     string            // the newest node's; empty before the first attempt
	node     framework.Created // the present session's; zero if it is gone

	seen        int  // the number of members at the last look
	responsible bool // n members wait, for all we know, and we must open

	round   []string // the names of the members, once the barrier is open
	passage *Passage // not nil once this member has entered
}

func (b *DoubleBarrier) newEntry() *entry {
	now := time.Now()
	return &entry{
		DoubleBarrier: b, base: b.layout.newName(now), data: b.identity(now),
		vanished: pauses.Vanished(), beaten: pauses.Contention(),
	}
}

// giveWay pauses before the next look if there is no error, because others have
// changed what this member has just seen: not the first time, which may be an
// opening.
func (e *entry) giveWay(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return e.beaten.Wait(ctx)
}

func (e *entry) nodePath() string { return e.child(e.name) }

// enter enters, or leaves nothing behind.
func (e *entry) enter(ctx context.Context) error {
	err := e.run(ctx, e.client, e.look)
	if err == nil {
		e.passage, err = newPassage(ctx, e)
		return err
	}
	e.discard(ctx)
	if reason.IsOfContext(ctx, err) {
		e.lookOnceMore(ctx)
		err = fmt.Errorf("%w: %d of %d were there: %w", ErrNotEntered, e.seen, e.n, err)
	}
	return err
}

// abandon leaves nothing behind, whatever has come of this Enter.
func (e *entry) abandon() {
	switch {
	case e.passage != nil:
		e.passage.abandon()
	case e.name != "":
		framework.Extend(e.client).DeleteInBackground(e.nodePath())
	}
}

// look enters as the layout says. If the member's node goes meanwhile, the next
// look makes another one.
func (e *entry) look(ctx context.Context, s *framework.Session) error {
	err := e.layout.enter(ctx, e, s)
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
	node, err := e.place.create(ctx, s, e.nodePath(), e.data, framework.WithParents(), framework.WithSiblings())
	if err != nil {
		return err
	}
	e.node, e.seen = node, len(node.Siblings)
	e.responsible = node.Siblings == nil || len(node.Siblings) >= e.n
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
	there, _, own, err := e.client.ExistsW(ctx, e.nodePath())
	if err != nil {
		return false, err
	}
	defer own.Stop()
	e.Recovered()
	if !there {
		e.events.At(e.nodePath()).Emit(eventNodeDeleted, nil, event.Session(e.node.Session.ID()))
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
	if e.seen == 0 || !e.client.State().IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if there, err := e.layout.look(ctx); err == nil {
		e.seen = len(but(there.waiting, e.name)) + 1
	}
}

// discard deletes the newest node, if there is one or may be.
func (e *entry) discard(ctx context.Context) {
	e.node = framework.Created{}
	if e.name != "" {
		lockloop.Discard(ctx, e.client, e.nodePath())
	}
}
