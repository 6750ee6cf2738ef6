package leader

import (
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/recipes/locks"
)

// candidates is the queue of those who stand for leader.
type candidates struct {
	queue.Queue
	removal follow.Recovery // takes down what deletions of our nodes outlast
}

func newCandidates(cfg queue.Config) candidates {
	return candidates{*queue.New(cfg), follow.Recovery{Client: cfg.Client}}
}

func notAcquired(n queue.NotAcquired) error {
	e := locks.NotAcquiredError(n)
	return &e
}

// participants returns the candidates in the order of the queue.
func (q *candidates) participants(ctx context.Context) ([]locks.Participant, error) {
	all, err := q.Participants(ctx)
	var participants []locks.Participant
	for _, p := range all {
		participants = append(participants, locks.Participant(p))
	}
	return participants, err
}

// leader returns the first of the queue that is still there when it is read
// (CURATOR-358). If all have left by then, it lists the queue again: others may
// have come before that, and one of them leads.
func (q *candidates) leader(ctx context.Context) (locks.Participant, error) {
	const op = "leader"
	vanished := pauses.Vanished()
	for {
		entries, err := q.Entries(ctx, op)
		if err == nil && len(entries) == 0 {
			err = q.ErrorOf(op, ErrNoLeader)
		}
		if err != nil {
			return locks.Participant{}, err
		}
		for i, e := range entries {
			p, err := q.Read(ctx, e)
			if reason.Is(err, zk.ErrNoNode) {
				continue
			}
			p.Position, p.Holder = i, true
			return locks.Participant(p), err
		}
		if err := follow.Pause(ctx, q.Client(), &vanished); err != nil {
			return locks.Participant{}, q.ErrorOf(op, err)
		}
	}
}

// hasSuccessor returns ErrNoSuccessor if nobody is in the queue but the leader.
func (q *candidates) hasSuccessor(ctx context.Context) error {
	entries, err := q.Entries(ctx, "hand over")
	if err != nil {
		return err
	}
	if len(entries) < 2 {
		return ErrNoSuccessor
	}
	return nil
}

// handOver asks the leader to stop until ctx ends, and makes it stop then. The
// leadership is the one under way, or nil.
func (q *candidates) handOver(ctx context.Context, l *leadership) error {
	const op = "hand over"
	if l == nil {
		return q.ErrorOf(op, ErrNotLeader)
	}
	late := q.hasSuccessor(ctx)
	if late != nil && (ctx.Err() == nil || reason.Is(late, ErrNoSuccessor)) {
		return q.ErrorOf(op, late)
	}
	l.claim.Request()
	err := l.await(ctx, q)
	if err == nil {
		return nil
	}
	l.claim.Lose(locks.ErrRevoked)
	if late != nil && !reason.Is(err, ErrNotLeader) {
		err = withLast(ctx, late)
	}
	return q.ErrorOf(op, err)
}

// withLast returns ctx's error with that of the request that was the last when ctx
// ended. If it ended the request, the request's error has both already, and what
// the request has outlasted.
func withLast(ctx context.Context, last error) error {
	if reason.IsOfContext(ctx, last) {
		return last
	}
	return fmt.Errorf("%w (last error: %w)", reason.OfContext(ctx), last)
}
