package leader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/locks"
)

// What latches and selectors tell the log. Package trace of the internals tells
// of their acquires and holds.
var (
	eventNodeStays   = event.Kind{Warn: "leader's node stays, and is in the way of all candidates"}
	eventOverrun     = event.Kind{Warn: "leader's work goes on after the end of its leadership"}
	eventOverrunOver = event.Kind{Info: "leader's work has ended, after its leadership"}
)

// leadership is one leadership, from the grant until its node is given up, or
// kept for the next one.
type leadership struct {
	claim   *claim.Claim
	lease   *locks.Lease    // the leader's
	stopped <-chan struct{} // a latch's: see Claim.Lead of package claim
}

func (q *candidates) newLeadership(lease *claim.Lease) *leadership {
	c := lease.Claim()
	c.Watch()           // a leader watches its node from the beginning
	q.removal.Note(nil) // a node of ours that is ahead would keep us from leading
	c.TellDeletion(&q.removal)
	return &leadership{claim: c, lease: (*locks.Lease)(lease)}
}

// node is the attribute of a log line that names the leadership's node.
func (l *leadership) node() slog.Attr {
	return slog.String(semconv.LockNode, path.Base(l.lease.Path()))
}

// ended returns why the leadership has ended, or nil if only a tracer has ended
// the context of the work.
func (l *leadership) ended() error { return (*claim.Lease)(l.lease).Ended() }

// isAskedByOthers reports whether somebody has asked the leader to step down, by
// locks.Revoke. A hand-over is none of that: its caller sees to the next one.
func (l *leadership) isAskedByOthers() bool {
	select {
	case <-l.claim.RequestedByOthers():
		return true
	default:
		return false
	}
}

// attend looks after the leadership until leading ends, or stop is closed. A
// leader that somebody asks to step down has the time of grace for that.
func (l *leadership) attend(leading context.Context, stop <-chan struct{}, grace time.Duration) {
	asked := l.claim.RequestedByOthers() // a hand-over sees to its own deadline
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
			l.claim.Lose(locks.ErrRevoked)
		}
	}
}

// end gives the node up when the work is done, as a release does, and returns
// what the caller of the work can act on: the reason of a loss, and the
// server's if it refuses the deletion.
func (l *leadership) end(ctx context.Context) error {
	begun := false
	defer func() {
		if !begun { // a context of the user's own has panicked
			_ = l.claim.Dissolve(claim.Ended)
		}
	}()
	under, done := claim.WhileConnected(ctx, l.created().Session)
	defer done()
	begun = true
	refused := claim.RefusalsIn(l.claim.Dissolve(under))
	if cause := context.Cause(l.claim.Context()); !reason.Is(cause, locks.ErrReleased) {
		return errors.Join(cause, refused)
	}
	return refused
}

// await waits until the leadership is given up. The leader itself, whose
// context it gets, would wait for itself, so it does not wait. A leadership
// that was only interrupted is over as well, but its node stays and may lead
// again, so that nothing was given up.
func (l *leadership) await(ctx context.Context, q *candidates) error {
	if claim.FromContext(ctx, q.Key()) == l.claim {
		return nil
	}
	select {
	case <-l.claim.Over():
		if l.claim.State() == claim.Kept {
			return ErrNotLeader
		}
		return l.awaitNode(ctx, q)
	case <-ctx.Done():
		return q.removal.GaveUp(ctx)
	}
}

// created is the leader's node.
func (l *leadership) created() framework.Created { return l.claim.Nodes()[0] }

// dissolve gives the claim up. The claim of a session that is over leaves its node
// to the client, and does not wait for a server: that is an error here.
func (l *leadership) dissolve(ctx context.Context) error {
	return l.unlessOver(l.claim.Dissolve(ctx))
}

func (l *leadership) unlessOver(err error) error {
	if session := l.created().Session.Context(); err == nil && session.Err() != nil {
		return fmt.Errorf("%w: %w", framework.ErrLeftToServers, context.Cause(session))
	}
	return err
}

// awaitNode waits until the node of a leadership that is over is gone, if whoever
// has ended that did not. Nobody leads before.
func (l *leadership) awaitNode(ctx context.Context, q *candidates) error {
	ending := q.removal.Ending(ctx, l.created().Session)
	defer ending.Done()
	return l.awaitEnding(ending, q)
}

// awaitEnding is awaitNode for an ending that has begun.
func (l *leadership) awaitEnding(ending *follow.Ending, q *candidates) error {
	err := l.unlessOver(l.claim.AwaitRelease(ending.Context()))
	if reason.Is(err, framework.ErrLeftToServers) {
		err = q.delete(ending.Context(), l.created())
	}
	return ending.Err(l.created().Session, err)
}

// release releases the lease, and waits until the node is gone. The leader itself,
// whose context it gets, does not wait: that context ends with the release.
func (l *leadership) release(ctx context.Context, q *candidates) error {
	if claim.FromContext(ctx, q.Key()) == l.claim {
		return l.lease.Release(ctx)
	}
	ending := q.removal.Ending(ctx, l.created().Session)
	defer ending.Done()
	err := l.lease.Release(ending.Context())
	if err == nil || reason.Is(err, locks.ErrReleased) {
		return l.awaitEnding(ending, q)
	}
	return ending.Err(l.created().Session, err)
}
