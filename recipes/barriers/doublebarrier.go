package barriers

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// DoubleBarrier lets n members enter together, and leave together. It is
// Curator's DistributedDoubleBarrier, with nodes of its own unless
// WithCuratorLayout asks for Java's.
//
// It may be used for any number of rounds. Members that come while a round is
// under way make up the next one, which may open at any time. All members must
// use the same n: one that is in a round of another size gets a
// *framework.ConfigError, and leaves it.
//
// A DoubleBarrier has no goroutine and need not be closed. It is safe for
// concurrent use, and each Enter is another member.
type DoubleBarrier struct {
	client *framework.Client
	path   string
	n      int
	cfg    config
}

// NewDoubleBarrier returns a barrier for n members, without contacting the
// server. A client, a path, an n or an option that cannot be used is an error
// of every call. An n below 1 cannot be used.
func NewDoubleBarrier(c *framework.Client, path string, n int, opts ...Option) *DoubleBarrier {
	return &DoubleBarrier{client: c, path: path, n: n, cfg: newConfig(opts)}
}

// Enter waits until n members are there, and returns the passage of this one.
// Leave must be called on it. Members enter in the order in which they came, by
// their own clocks.
//
// The barrier opens in one transaction, which n members must be in. A member
// whose node is gone by then does not count. A process that crashed counts
// until its session has timed out; if it is counted, the passages of the others
// learn of its loss.
//
// Enter outlasts outages and losses of the session, until ctx ends. If a node
// of the lost session was counted, and this member has not passed, it begins
// anew. If ctx ends first, the error matches ErrNotEntered. If Enter fails, the
// Passage is nil, and the member's node is deleted, in the background if need
// be. To say how many members there were, Enter takes another half second at
// most.
func (b *DoubleBarrier) Enter(ctx context.Context) (*Passage, error) {
	if err := b.usable(); err != nil {
		return nil, errorOf("enter", b.path, err)
	}
	begun := time.Now()
	p, err := b.enter(ctx)
	told := false
	defer func() {
		if !told && p != nil { // the user's tracer has panicked, and nobody gets the passage
			p.abandon()
		}
	}()
	traceWait(b.client, "enter", b.path, begun, err)
	told = true
	return p, err
}

func (b *DoubleBarrier) enter(ctx context.Context) (*Passage, error) {
	e := b.newEntry()
	returned := false
	defer func() {
		if !returned && e.name != "" { // the user's code has panicked
			framework.Extend(b.client).DeleteInBackground(e.path())
		}
	}()
	p, err := b.enterAs(ctx, e)
	returned = true
	return p, err
}

// abandon leaves, and waits for nobody.
func (p *Passage) abandon() {
	p.cancel(ErrLeft)
	p.giveUp()
	p.leave()
}

// enterAs is enter for a member that may have a node when the user's code
// panics.
func (b *DoubleBarrier) enterAs(ctx context.Context, e *entry) (*Passage, error) {
	err := e.Run(ctx)
	if err == nil {
		p, err := newPassage(ctx, e)
		return p, errorOf("enter", b.path, err)
	}
	e.discard(ctx)
	if !reason.IsOfContext(ctx, err) {
		return nil, errorOf("enter", b.path, err)
	}
	e.lookOnceMore(ctx)
	return nil, errorOf("enter", b.path, fmt.Errorf("%w: %d of %d were there: %w", ErrNotEntered, e.seen, b.n, e.GaveUp(ctx)))
}

func (b *DoubleBarrier) usable() error {
	switch {
	case b.client == nil:
		return isNil("client")
	case b.cfg.fault != nil:
		return b.cfg.fault
	case b.n < 1:
		return &framework.ConfigError{Name: "number of members", Value: strconv.Itoa(b.n), Reason: "must be at least 1"}
	}
	return framework.ValidatePath(b.path)
}

func (b *DoubleBarrier) child(name string) string { return znode.Join(b.path, name) }
