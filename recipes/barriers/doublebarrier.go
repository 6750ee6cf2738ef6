package barriers

import (
	"cmp"
	"context"
	"time"

	"github.com/gocurator/curator/framework"
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
	place
	n      int
	layout layout
}

// NewDoubleBarrier returns a barrier for n members, without contacting the
// server. A client, a path, an n or an option that cannot be used is an error
// of every call. An n below 1 cannot be used.
func NewDoubleBarrier(c *framework.Client, path string, n int, opts ...Option) *DoubleBarrier {
	b := &DoubleBarrier{place: newPlace(c, path), n: n}
	var cfg config
	b.fault = cmp.Or(b.fault, apply(&cfg, opts))
	if n < 1 {
		b.fault = numberError(n, "must be at least 1")
	}
	b.layout = ownLayout{b}
	if cfg.curator {
		b.layout = curatorLayout{b}
	}
	return b
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
	if err := b.unusable(); err != nil {
		return nil, b.errorOf("enter", err)
	}
	begun, e := time.Now(), b.newEntry()
	returned := false
	defer func() {
		if !returned { // the user's code has panicked, and nobody gets the passage
			e.abandon()
		}
	}()
	err := b.waited("enter", begun, e.enter(ctx))
	returned = true
	return e.passage, err
}

// layout is the protocol of a DoubleBarrier: which nodes it has, and how its
// members meet by them.
type layout interface {
	// newName begins the names of the nodes of an Enter at this time.
	newName(now time.Time) string

	// enter is one look of an Enter. It returns follow.ErrDone when the member
	// has entered, and zk.ErrNoNode when its node is gone.
	enter(ctx context.Context, e *entry, s *framework.Session) error

	// inside returns what is to be done for a member that has entered.
	inside(p *Passage) inside

	// look returns the members that are there.
	look(ctx context.Context) (present, error)
}

// inside is a member that is inside.
type inside interface {
	// stay returns when Leave was called, and all others have left.
	stay(ctx context.Context) error

	// resign leaves, and waits for nobody.
	resign(ctx context.Context) error
}
