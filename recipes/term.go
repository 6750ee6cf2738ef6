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
	lease *Lease // the leader's
}

func newTerm(lease *Lease) *term {
	h := lease.hold
	h.gone = make(chan struct{})
	h.guard.start() // a leader looks out for the deletion of its node, and for requests to step down
	return &term{hold: h, lease: lease}
}

// attend looks after the term until leading ends, or stop is closed. A leader whom somebody asks to step down has the time
// of grace for that.
func (t *term) attend(leading context.Context, stop <-chan struct{}, grace time.Duration) {
	asked := t.hold.guard.marked // by others: whoever hands over sees to its own deadline
	var deadline <-chan time.Time
	for {
		select {
		case <-leading.Done():
			return
		case <-stop:
			return
		case <-asked:
			asked = nil
			deadline = time.After(grace)
		case <-deadline:
			t.hold.lose(ErrRevoked)
		}
	}
}

// end gives the node up when the work is done, as a release does, and returns what the work's caller can act on: the reason
// of a loss, and the server's if it refuses the deletion.
func (t *term) end(ctx context.Context) error {
	under, done := whileConnected(ctx, t.hold.nodes[0].Session)
	defer done()
	err := t.hold.dissolve(under)
	if errors.Is(context.Cause(t.hold.ctx), ErrReleased) {
		return refusalsIn(err)
	}
	return err
}

// await waits until the leadership is given up. The leader itself, whose context it gets, would wait for itself. A leadership
// that was only interrupted is over as well, but its node stays, and may lead again: nothing was given up.
func (t *term) await(ctx context.Context) error {
	if heldUnder(ctx, t.hold.key) == t.hold {
		return nil
	}
	select {
	case <-t.hold.gone:
		if t.hold.wasKept() {
			return ErrNotLeader
		}
		return nil
	case <-ctx.Done():
		return retry.ContextError(ctx)
	}
}

// successor returns ErrNoSuccessor if nobody is in the queue but the leader.
func (l *lock) successor(ctx context.Context) error {
	queue, err := l.contenders(ctx)
	if err != nil {
		return err
	}
	if len(queue) < 2 {
		return ErrNoSuccessor
	}
	return nil
}

// leader returns the first of the queue who is still there when it is read (CURATOR-358).
func (l *lock) leader(ctx context.Context) (Participant, error) {
	queue, err := l.contenders(ctx)
	if err != nil {
		return Participant{}, err
	}
	for i, c := range queue {
		p, err := readParticipant(ctx, l.loop.Client, lockloop.Join(l.loop.Path, c.Node))
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		p.Position, p.Holder = i, true
		return p, err
	}
	return Participant{}, l.leaderError("leader", ErrNoLeader)
}

// handOver is HandOver of both recipes, for the term that is under way, or none: it asks the leader to stop until ctx ends,
// and makes it stop then.
func (l *lock) handOver(ctx context.Context, t *term) error {
	if t == nil {
		return l.leaderError("hand over", ErrNotLeader)
	}
	err := l.successor(ctx)
	if err != nil && (ctx.Err() == nil || errors.Is(err, ErrNoSuccessor)) {
		return l.leaderError("hand over", err)
	}
	t.hold.revoke()
	t.hold.followed().revoked()
	if err := t.await(ctx); err != nil {
		t.hold.lose(ErrRevoked)
		return l.leaderError("hand over", err)
	}
	return nil
}

func (l *lock) leaderError(op string, err error) error {
	if err == nil {
		return nil
	}
	return &framework.OpError{Op: op, Path: l.name, Err: err}
}
