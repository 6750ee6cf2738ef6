package queue

import (
	"context"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// Several are places in the queues of several locks of one client, which are
// taken by one transaction. One acquire after the other then waits in its place.
// Nobody can overtake those that wait longer, so it does not matter which is
// first.
//
// They go past the queues in the process, in which goroutines wait for locks one
// by one: who waits there has no node, and nobody at the server waits for it.
//
// It is for one goroutine.
type Several struct {
	since time.Time                        // the time at which the owner began to wait
	seen  map[*Queue]*lockloop.NotAdmitted // each queue as it was seen last
	pause pauses.Growing                   // between the loss of places and the next ones

	queues []*Queue
	loops  []*lockloop.Loop
	data   []byte
	nodes  []framework.Created // nil until the transaction is done
	again  bool                // the transaction was sent again
	taken  []bool              // the nodes that have a claim
	listed bool                // the nodes have listings, and no request was made since
}

// NewSeveral returns places for an owner that begins to wait now.
func NewSeveral() *Several {
	return &Several{since: time.Now(), seen: map[*Queue]*lockloop.NotAdmitted{}, pause: pauses.Vanished()}
}

// Begin forgets the places, and what has become of them. The next are in these
// queues. All have one client, and different paths.
func (s *Several) Begin(queues []*Queue) {
	*s = Several{since: s.since, seen: s.seen, pause: s.pause, queues: queues, taken: make([]bool, len(queues))}
	for _, q := range queues {
		s.loops = append(s.loops, q.loop)
		if s.seen[q] == nil {
			s.seen[q] = &lockloop.NotAdmitted{}
		}
	}
}

// Left returns the nodes that no acquire has made a claim of. The caller has to
// delete them.
func (s *Several) Left() (left []framework.Created) {
	for i, n := range s.nodes {
		if !s.taken[i] {
			left = append(left, n)
		}
	}
	return left
}

// Pause is for an owner that begins again, because it has lost its places or, if it
// has none, leases of this client. It pauses if that happens time and again, or if it
// does not come to have places. Places that are lost with their session cost no pause:
// the next ones are in the next session.
//
// The error says why nothing can come of the next attempt, which usually says so
// itself, and knows more.
func (s *Several) Pause(ctx context.Context, c *framework.Client) error {
	if len(s.queues) > 0 {
		c = s.queues[0].cfg.Client
	}
	if c != nil && (s.nodes == nil || s.nodes[0].Session.Context().Err() == nil) {
		_ = follow.Pause(ctx, c, &s.pause)
	}
	switch {
	case ctx.Err() != nil:
		return reason.OfContext(ctx)
	case c != nil && framework.Extend(c).Context().Err() != nil:
		return framework.ErrClosed
	}
	return nil
}

// Acquire is Queue.Acquire in the place in that queue. The acquires are in the
// order of the queues, and the first takes the places in all of them. If the place
// is lost, or if there is none in that queue, the error matches
// lockloop.ErrPlaceLost.
func (s *Several) Acquire(ctx context.Context, q *Queue, wait bool) (*claim.Lease, error) {
	i := slices.Index(s.queues, q)
	if i < 0 {
		return nil, q.OpError(lockloop.ErrPlaceLost)
	}
	return Traced(ctx, q.Describe(wait), func(ctx context.Context, a Attempt) (*claim.Claim, error) {
		a.Since, a.seen = s.since, s.seen[q]
		return s.win(ctx, a, i)
	})
}

func (s *Several) win(ctx context.Context, a Attempt, i int) (*claim.Claim, error) {
	q := s.queues[i]
	if s.nodes == nil {
		s.data = q.NodeData(a)
	}
	c, refusal := q.winAtServer(ctx, a, lockloop.Attempt{
		Wait: a.Wait, Data: s.data, Observer: a.Trace.Observer(),
		Enter:     func(ctx context.Context) (framework.Created, bool, error) { return s.enter(ctx, i) },
		OnBlocked: func(r lockloop.NotAdmitted) { s.listed = false; a.note(r) },
		OnLook:    func() { s.listed = false },
	})
	if refusal == nil {
		s.taken[i] = true
		return c, nil
	}
	a.Recall(refusal)
	if refusal.Ahead > 0 && reason.Is(refusal.Err, lockloop.ErrPlaceLost) {
		return nil, q.cfg.NotAcquired(q.notAcquired(refusal))
	}
	return nil, q.Refuse(ctx, refusal)
}

// enter returns the node in a place, with a listing of its queue. The queues are
// listed together, so that it takes one round trip. But a listing that was there
// before a wait, or before another look, says nothing of what has become of our
// node meanwhile.
//
// It also reports whether the transaction was sent again.
func (s *Several) enter(ctx context.Context, i int) (node framework.Created, again bool, err error) {
	if s.nodes == nil {
		if s.nodes, s.again, err = lockloop.EnterAll(ctx, s.loops, s.data); err != nil {
			return framework.Created{}, false, err
		}
	}
	if !s.listed {
		if err := lockloop.ListAll(ctx, s.loops[i:], s.nodes[i:]); err != nil {
			return framework.Created{}, false, err
		}
		s.listed = true
	}
	node = s.nodes[i]
	s.nodes[i].Siblings = nil
	return node, s.again, nil
}
