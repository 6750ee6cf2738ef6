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
	"github.com/gocurator/curator/recipes/internal/identity"
)

// raise is one Raise, which may go on in several sessions.
type raise struct {
	*Barrier
	mode  framework.Mode
	maybe bool // it has raised the barrier, or may have
}

// failed returns the error of a Raise.
func (r *raise) failed(ctx context.Context, err error) error {
	if !r.maybe {
		if reason.Is(err, ErrRaised) {
			return err
		}
		return errorOf("raise", r.path, endedBy(ctx, err))
	}
	if !reason.Is(err, framework.ErrOutcomeUnknown) {
		err = fmt.Errorf("%w: %w", framework.ErrOutcomeUnknown, err)
	}
	return errorOf("raise", r.path, endedBy(ctx, err))
}

// note remembers whether a request that raises the barrier may have done so.
func (r *raise) note(err error) {
	if err == nil || reason.Is(err, framework.ErrOutcomeUnknown) {
		r.maybe = true
	}
}

// inSession raises the barrier in one session.
func (r *raise) inSession(ctx context.Context) (Raised, error) {
	s, err := r.client.Session(ctx)
	if err != nil {
		return Raised{}, err
	}
	data := identity.Node(identity.Own(framework.Extend(r.client).ServiceName()), time.Now(), nil)
	opts := []framework.CreateOption{framework.WithMode(r.mode), framework.WithParents()}
	if r.mode == framework.Persistent {
		opts = append(opts, framework.Idempotent())
	} else {
		r.noteSession(s.ID())
	}
	vanished := pauses.Vanished()
	vanished.Longest = time.Second // others wait for this one
	for tries := 0; ; tries++ {
		if tries > 0 {
			vanished.Wait(ctx)
		}
		_, err := r.client.Create(ctx, r.path, data, opts...)
		r.note(err)
		if err == nil {
			r.logRaised(s)
		} else if !reason.Is(err, zk.ErrNodeExists) {
			return Raised{}, err
		}
		up, version, err := r.look(ctx)
		if reason.Is(err, zk.ErrNoNode) {
			continue // somebody has lowered it, or the session that it was bound to has ended
		}
		if err != nil {
			return Raised{}, err
		}
		if up.Owner == s.ID() {
			up.Session = s
		}
		switch {
		case up.Owner == 0, r.mode == framework.Ephemeral && up.Owner == s.ID():
			return up, nil
		case r.mode == framework.Persistent:
			err = r.replace(ctx, s, version, data)
		case r.hasRaisedIn(up.Owner):
			err = r.awaitFall(ctx, up.Owner)
		default:
			err = &RaisedError{Op: "raise", Path: r.path, Raised: up}
		}
		if err != nil {
			return Raised{}, err
		}
	}
}

// replace replaces a node of a session by one without, in one transaction, so
// that the barrier is up all the time. If the node is another one by now, the
// next step looks at it. A fresh node has the same version as the one before,
// so that the transaction may replace another node than the one that was seen.
// That does no harm: the barrier is up, and asked to be up without a session.
func (r *raise) replace(ctx context.Context, s *framework.Session, version int32, data []byte) error {
	_, err := r.client.Transaction(ctx,
		framework.DeleteOp(r.path, version), framework.CreateOp(r.path, data, framework.WithMode(r.mode)))
	r.note(err)
	if reason.Is(err, zk.ErrNoNode) || reason.Is(err, zk.ErrBadVersion) || reason.Is(err, zk.ErrNodeExists) {
		return nil
	}
	if err == nil {
		r.logRaised(s)
	}
	return err
}

// awaitFall waits until the barrier changes that a lost session of ours has
// left. It is not deleted here: somebody may have raised it anew, and no
// request can tell the two nodes apart.
func (r *raise) awaitFall(ctx context.Context, owner int64) error {
	there, stat, watch, err := r.client.ExistsW(ctx, r.path)
	if err != nil {
		return err
	}
	defer watch.Stop()
	if !there || stat.EphemeralOwner != owner {
		return nil
	}
	select {
	case <-watch.Done():
		return nil
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
}

func (r *raise) logRaised(s *framework.Session) {
	framework.Extend(r.client).Logger().Info("barrier raised", logPath(r.client, r.path), semconv.SessionID, sessionText(s.ID()))
}
