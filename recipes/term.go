package recipes

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/retry"
)

// term is one leadership, from the grant until its node is given up.
type term struct {
	hold  *hold
	lease *Lease
	asked chan struct{} // one value for each handOver
	over  chan struct{} // closed when the leader has stopped, and the node is given up
}

func newTerm(lease *Lease) *term {
	lease.hold.guard.start() // a leader looks out for the deletion of its node, and for requests to step down
	return &term{hold: lease.hold, lease: lease, asked: make(chan struct{}), over: make(chan struct{})}
}

// attend looks after the term until the leader has to stop, or stop is closed. A leader whom somebody asks to step down has
// the time of grace for that.
func (t *term) attend(leading context.Context, stop <-chan struct{}, grace time.Duration) {
	revoked := t.hold.revoked
	var deadline <-chan time.Time
	for {
		select {
		case <-leading.Done():
			return
		case <-stop:
			return
		case <-t.asked: // its own deadline counts
			revoked = nil
			t.hold.revoke()
		case <-revoked:
			revoked = nil
			deadline = time.After(grace)
		case <-deadline:
			t.hold.end(ErrRevoked)
		}
	}
}

// handOver asks the leader to stop until ctx ends, and makes it stop then.
func (t *term) handOver(ctx context.Context) error {
	select {
	case t.asked <- struct{}{}:
	case <-t.lease.ctx.Done():
		return ErrNotLeader
	case <-ctx.Done():
	}
	select {
	case <-t.over:
		return nil
	case <-ctx.Done():
		t.hold.end(ErrRevoked)
		return retry.ContextError(ctx)
	}
}

// successor returns ErrNoSuccessor if nobody is in the queue but the leader.
func (l *lock) successor(ctx context.Context) error {
	names, _, err := l.loop.Client.Children(ctx, l.loop.Path)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	if len(lockloop.Queue(names, l.loop.Kinds...)) < 2 {
		return ErrNoSuccessor
	}
	return nil
}

// leader returns the first of the queue who is still there when it is read (CURATOR-358).
func (l *lock) leader(ctx context.Context) (Participant, error) {
	names, _, err := l.loop.Client.Children(ctx, l.loop.Path)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return Participant{}, err
	}
	for i, c := range lockloop.Queue(names, l.loop.Kinds...) {
		p, err := readParticipant(ctx, l.loop.Client, lockloop.Join(l.loop.Path, c.Node))
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		p.Position, p.Holder = i, true
		return p, err
	}
	return Participant{}, l.leaderError("leader", ErrNoLeader)
}

// handOver is HandOver of both recipes, for the term that is under way, or none.
func (l *lock) handOver(ctx context.Context, t *term) error {
	if t == nil {
		return l.leaderError("hand over", ErrNotLeader)
	}
	if err := l.successor(ctx); err != nil {
		return l.leaderError("hand over", err)
	}
	return l.leaderError("hand over", t.handOver(ctx))
}

func (l *lock) leaderError(op string, err error) error {
	if err == nil {
		return nil
	}
	return &framework.OpError{Op: op, Path: l.name, Err: err}
}
