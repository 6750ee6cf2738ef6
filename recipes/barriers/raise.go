package barriers

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// raise is a Raise that is under way.
type raise struct {
	call
	*Barrier
	mode     framework.Mode
	data     []byte
	vanished pauses.Growing
	up       Raised // what Raise returns
}

func (b *Barrier) raise(ctx context.Context, mode framework.Mode) (Raised, error) {
	r := &raise{Barrier: b, mode: mode, data: b.identity(time.Now()), vanished: pauses.Vanished()}
	err := r.run(ctx, b.client, r.attempt)
	return r.up, r.orUnknown(err)
}

// raised notes that a request has raised the barrier.
func (r *raise) raised(s *framework.Session) {
	r.wrote = true
	r.events.Emit(eventRaised, nil, event.Session(s.ID()))
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
	case r.sessions.Has(up.Owner):
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
	var err error
	if r.mode == framework.Persistent {
		_, err = r.client.Create(ctx, r.path, r.data, framework.WithParents(), framework.WithIdempotence())
	} else {
		r.sessions.Note(s.ID())
		_, err = r.place.create(ctx, s, r.path, r.data, framework.WithParents())
	}
	if err == nil {
		r.raised(s)
	}
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
	if err == nil {
		r.raised(s)
	}
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
