package barriers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/identity"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// errAnew means that the member's node is gone, so that it needs another one.
var errAnew = errors.New("the member's node is gone")

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

	round []string // the names of the members, once the barrier is open
}

func (b *DoubleBarrier) newEntry() *entry {
	now := time.Now()
	e := &entry{
		barrier:  b,
		base:     fmt.Sprintf("%s%011x-%s", memberPrefix, now.UnixMilli(), rand.Text()),
		data:     identity.Node(identity.Own(framework.Extend(b.client).ServiceName()), now, nil),
		vanished: pauses.Vanished(),
	}
	e.vanished.Longest = time.Second // others wait for this one
	e.Client, e.Ends, e.Look = b.client, endsCall, e.enterOrAnew
	e.Awaited = true // by the caller, and by the other members
	if b.cfg.curator {
		e.base = strings.ToLower(rand.Text())
	}
	return e
}

func (e *entry) path() string { return e.barrier.child(e.name) }

// enterOrAnew waits for the opening. If the member's node goes meanwhile, the
// next look makes another one.
func (e *entry) enterOrAnew(ctx context.Context, s *framework.Session) error {
	err := e.enter(ctx, s)
	if reason.Is(err, errAnew) {
		e.node = framework.Created{}
		return e.vanished.Wait(ctx)
	}
	if err == nil {
		return follow.ErrDone
	}
	return err
}

// enter waits for the opening.
func (e *entry) enter(ctx context.Context, s *framework.Session) error {
	if e.barrier.cfg.curator {
		return e.enterCurator(ctx, s)
	}
	if err := e.create(ctx, s); err != nil {
		return err
	}
	return e.awaitOpening(ctx)
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

// lookOnceMore counts the members when this one has given up. The context has
// ended, so the look has half a second of its own, if there is a connection.
func (e *entry) lookOnceMore(ctx context.Context) {
	c := e.barrier.client
	if e.seen == 0 || !c.State().IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	others, err := e.waitingOthers(ctx)
	if err == nil {
		e.seen = len(others) + 1
	}
}

// waitingOthers returns the names of the other members that wait.
func (e *entry) waitingOthers(ctx context.Context) ([]string, error) {
	b := e.barrier
	names, err := b.others(ctx, e.name)
	if err != nil || b.cfg.curator {
		return names, err
	}
	r, _, _, err := b.readRounds(ctx, false) // after the names: members that are new in the rounds are left out
	if reason.Is(err, errAnew) {
		return nil, nil
	}
	return r.waiting(names), err
}

// discard deletes the newest node, if there is one or may be.
func (e *entry) discard(ctx context.Context) {
	e.node = framework.Created{}
	if e.name != "" {
		lockloop.Discard(ctx, e.barrier.client, e.path())
	}
}
