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
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/identity"
)

// raise is one Raise, which may go on in several sessions.
type raise struct {
	follow.Loop
	*Barrier
	mode     framework.Mode
	data     []byte
	vanished pauses.Growing
	maybe    bool   // it has raised the barrier, or may have
	up       Raised // at the end
}

func (b *Barrier) raise(ctx context.Context, mode framework.Mode) (Raised, error) {
	data := identity.Node(identity.Own(framework.Extend(b.client).ServiceName()), time.Now(), nil)
	r := &raise{Barrier: b, mode: mode, data: data, vanished: pauses.Vanished()}
	r.vanished.Longest = time.Second // others wait for this one
	r.Client, r.Ends, r.Look = b.client, endsCall, r.attempt
	r.Awaited = true // by the caller
	if err := r.Run(ctx); err != nil {
		return Raised{}, r.failed(ctx, err)
	}
	return r.up, nil
}

// failed returns the error of a Raise.
func (r *raise) failed(ctx context.Context, err error) error {
	if reason.IsOfContext(ctx, err) {
		err = r.GaveUp(ctx)
	}
	switch {
	case r.maybe && !reason.Is(err, framework.ErrOutcomeUnknown):
		err = fmt.Errorf("%w: %w", framework.ErrOutcomeUnknown, err)
	case !r.maybe && reason.Is(err, ErrRaised):
		return err
	}
	return errorOf("raise", r.path, err)
}

// note remembers whether a request that raises the barrier may have done so, and
// logs that it has.
func (r *raise) note(s *framework.Session, err error) {
	if err == nil {
		framework.Extend(r.client).Logger().Info("barrier raised", logPath(r.client, r.path), semconv.SessionID, sessionText(s.ID()))
	}
	if err == nil || reason.Is(err, framework.ErrOutcomeUnknown) {
		r.maybe = true
	}
}

// attempt raises the barrier, or does something about the one that is up.
func (r *raise) attempt(ctx context.Context, s *framework.Session) error {
	if err := r.create(ctx, s); err != nil {
		return err
	}
	up, version, err := r.look(ctx, s)
	switch {
	case err != nil: // if there is no node, somebody has lowered it, or its session has ended
	case up.Owner == 0, r.mode == framework.Ephemeral && up.Session != nil:
		r.up = up
		return follow.ErrDone
	case r.mode == framework.Persistent:
		err = r.replace(ctx, s, version)
	case r.hasRaisedIn(up.Owner):
		err = r.awaitFall(ctx, up.Owner)
	default:
		err = &RaisedError{Op: "raise", Path: r.path, Raised: up}
	}
	if err := ignore(err, zk.ErrNoNode); err != nil {
		return err
	}
	return r.vanished.Wait(ctx)
}

// create raises the barrier, unless it is up.
func (r *raise) create(ctx context.Context, s *framework.Session) error {
	opts := []framework.CreateOption{framework.WithMode(r.mode), framework.WithParents()}
	if r.mode == framework.Persistent {
		opts = append(opts, framework.WithIdempotence())
	} else {
		r.noteSession(s.ID())
	}
	_, err := r.client.Create(ctx, r.path, r.data, opts...)
	r.note(s, err)
	return ignore(err, zk.ErrNodeExists)
}

// replace replaces a node of a session by one without, in one transaction, so
// that the barrier is up all the time. If the node is another one by now, the
// next step looks at it. A fresh node has the same version as the one before,
// so that the transaction may replace another node than the one that was seen.
// That does no harm: the barrier is up, and asked to be up without a session.
func (r *raise) replace(ctx context.Context, s *framework.Session, version int32) error {
	_, err := r.client.Transaction(ctx,
		framework.DeleteOp(r.path, version), framework.CreateOp(r.path, r.data, framework.WithMode(r.mode)))
	r.note(s, err)
	return ignore(err, zk.ErrNoNode, zk.ErrBadVersion, zk.ErrNodeExists)
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
	r.Recovered()
	_, err = watch.Wait(ctx)
	return err
}

func (b *Barrier) noteSession(id int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions.Note(id)
}

func (b *Barrier) hasRaisedIn(session int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sessions.Has(session)
}
