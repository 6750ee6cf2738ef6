package barriers

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/identity"
	"github.com/gocurator/curator/recipes/locks"
)

// Barrier is a gate: as long as it is raised, Wait waits. It is Curator's
// DistributedBarrier: the barrier is up while the node at its path exists.
//
// A Barrier has no goroutine and need not be closed. It is safe for concurrent
// use.
type Barrier struct {
	place
	sessions identity.Sessions // they raised this Barrier
}

// NewBarrier returns a barrier, without contacting the server. A client or a
// path that cannot be used is an error of every call.
func NewBarrier(c *framework.Client, path string) *Barrier {
	return &Barrier{place: newPlace(c, path)}
}

// Raised describes a barrier that is up.
type Raised struct {
	By    locks.Identity // as the node says, which anybody may have written
	Since time.Time      // the server's time
	Czxid int64          // the id of the transaction that raised it

	// Owner is the id of the session that the barrier falls with. It is 0 for a
	// barrier that stays up until somebody lowers it.
	Owner int64

	// Session is that session if it is the present one of this client, else
	// nil: check it before use. It is also nil after a successful Raise WithSession
	// if the barrier was up already, without a session. The session's context ends
	// before the barrier falls.
	Session *framework.Session
}

// by returns a text that names who raised the barrier.
func (r Raised) by() string {
	if r.By.Foreign != "" {
		return fmt.Sprintf("%q", r.By.Foreign)
	}
	return r.By.String()
}

// RaiseOption configures a Raise.
type RaiseOption func(*raiseConfig)

type raiseConfig struct{ mode framework.Mode }

// WithSession binds the barrier to the client's session: it falls when the
// session ends, so that a process that crashes does not leave it up. Waiters
// need not know of it, in Java Curator neither.
//
// The barrier does not come back by itself when the session is lost.
// Raised.Session tells of the loss. For a barrier that comes back, keep a
// nodes.PersistentNode at its path instead.
func WithSession() RaiseOption { return func(c *raiseConfig) { c.mode = framework.Ephemeral } }

// Raise raises the barrier, and returns a description of it. When it returns
// without an error, the barrier stays up until somebody lowers it, or until the
// end of the session that it is bound to. Missing parents are created.
//
// If the barrier is up already:
//
//   - A barrier without a session stays as it is. That is success, and the
//     description says who raised it.
//   - A barrier of a session becomes one without, if that is asked for. It is
//     up all the time.
//   - A barrier of this client's present session is success. One of a session
//     in which this Barrier was raised before, and which is lost, is about to
//     fall. Raise waits for that, and raises the barrier in the present
//     session. In between it is down.
//   - Raise WithSession of a barrier that is bound to another session is a
//     *RaisedError: it would fall with a session that is not the caller's.
//
// If a reply is lost, the request is repeated. A barrier that somebody lowers
// in the meantime may be raised anew. If Raise fails after it has raised the
// barrier, or may have, the error matches framework.ErrOutcomeUnknown: the
// barrier may be up.
func (b *Barrier) Raise(ctx context.Context, opts ...RaiseOption) (Raised, error) {
	cfg := raiseConfig{mode: framework.Persistent}
	for _, o := range opts {
		if o == nil {
			return Raised{}, b.errorOf("raise", &framework.ConfigError{Name: "option", Value: "nil", Reason: "must not be nil"})
		}
		o(&cfg)
	}
	if err := b.unusable(); err != nil {
		return Raised{}, b.errorOf("raise", err)
	}
	r := &raise{call: b.call(), barrier: b, mode: cfg.mode, data: b.identity(time.Now()), vanished: pauses.Vanished()}
	err := r.run(ctx, r.attempt)
	return r.up, b.errorOf("raise", r.orUnknown(err))
}

// raise is a Raise that is under way.
type raise struct {
	*call
	barrier  *Barrier
	mode     framework.Mode
	data     []byte
	vanished pauses.Growing
	up       Raised // what Raise returns
}

// attempt raises the barrier, or handles the one that is up. After a lost reply,
// the next attempt finds the barrier up.
func (r *raise) attempt(ctx context.Context, s *framework.Session) error {
	if err := r.create(ctx, s); err != nil {
		return err
	}
	up, version, err := r.barrier.look(ctx, s)
	switch {
	case err != nil: // if there is no node, the barrier was lowered, or its session has ended
	case up.Owner == 0, r.mode == framework.Ephemeral && up.Session != nil:
		r.up = up
		return follow.ErrDone
	case r.mode == framework.Persistent:
		err = r.replace(ctx, s, version)
	case r.barrier.sessions.Has(up.Owner):
		// The barrier falls with a lost session of this client. It is not deleted
		// here: another client may have raised it since, and no request can tell
		// the two nodes apart.
		_, err = r.awaitChange(ctx, r.path, func(stat *zk.Stat) bool { return stat.EphemeralOwner == up.Owner })
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
	if r.mode == framework.Ephemeral {
		r.barrier.sessions.Note(s.ID())
	}
	_, err := r.client.Create(ctx, r.path, r.data, framework.WithParents(), framework.WithMode(r.mode))
	return r.raised(s, err)
}

// replace replaces the node of a session by a persistent one in one transaction,
// so that the barrier is up all the time. If the node has changed since it was
// read, the next attempt reads it again. A fresh node has the same version as the
// one before, so the transaction may replace another node than the one that was
// read. That does no harm: the barrier is up, as the caller wants.
func (r *raise) replace(ctx context.Context, s *framework.Session, version int32) error {
	_, err := r.client.Transaction(ctx,
		framework.DeleteOp(r.path, version), framework.CreateOp(r.path, r.data, framework.WithMode(r.mode)))
	return ignore(r.raised(s, err), zk.ErrNoNode, zk.ErrBadVersion)
}

// raised notes whether a request has raised the barrier, and returns its error. A
// barrier that is up already is no error.
func (r *raise) raised(s *framework.Session, err error) error {
	if err == nil {
		r.wrote = true
		r.events.Emit(eventRaised, nil, event.Session(s.ID()))
	}
	return ignore(err, zk.ErrNodeExists)
}

// look reads the barrier's node in a session.
func (b *Barrier) look(ctx context.Context, s *framework.Session) (up Raised, version int32, err error) {
	data, stat, err := b.client.Get(ctx, b.path)
	if err != nil {
		return Raised{}, 0, err
	}
	return describe(data, stat, s), stat.Version, nil
}

// describe describes a node that was read in a session.
func describe(data []byte, stat *zk.Stat, s *framework.Session) Raised {
	r := Raised{
		By: locks.ReadIdentity(data), Since: time.UnixMilli(stat.Ctime),
		Czxid: stat.Czxid, Owner: stat.EphemeralOwner,
	}
	if r.Owner == s.ID() {
		r.Session = s
	}
	return r
}

// Lower lowers the barrier, whoever raised it. A barrier that is not up is
// success. If a reply is lost, the request is repeated, and may hit a barrier
// that was raised anew. If ctx ends before the reply, the error matches
// framework.ErrOutcomeUnknown, and nothing goes on in the background. If no
// request was sent, it does not.
func (b *Barrier) Lower(ctx context.Context) error {
	err := b.ask(ctx, "lower", func(ctx context.Context, _ *framework.Session) error {
		return b.client.Delete(ctx, b.path, framework.AnyVersion, framework.WithMissingOK())
	})
	if err == nil {
		b.events.Emit(eventLowered, nil)
	}
	return err
}

// Raised reports whether the barrier is up, and describes it. It has seen every
// Raise and Lower that was complete before the call, as Wait has. It goes on
// through outages until ctx ends.
func (b *Barrier) Raised(ctx context.Context) (raised Raised, up bool, err error) {
	err = b.ask(ctx, "raised", func(ctx context.Context, s *framework.Session) (err error) {
		if err = b.client.Sync(ctx, b.path); err != nil {
			return err
		}
		raised, _, err = b.look(ctx, s)
		up = err == nil
		return ignore(err, zk.ErrNoNode)
	})
	return raised, up, err
}

// Wait waits until the barrier is down. It returns nil at once if it is down
// already. Outages and losses of the session do not end it: it looks again when
// there is a connection. While it waits, it has one watch, which it withdraws.
//
// Wait has seen every Raise that was complete before the call: it asks the
// server to catch up before it looks, once in each session. The package
// documentation says what a leader's own clients may miss.
//
// If ctx ends first, the error is a *RaisedError, which says who raised the
// barrier. If Wait has not read the barrier's node by then, because there was no
// connection, the error matches ctx.Err() alone.
func (b *Barrier) Wait(ctx context.Context) error {
	if err := b.unusable(); err != nil {
		return b.errorOf("wait", err)
	}
	begun, w := time.Now(), &waiting{call: b.call()}
	err := w.run(ctx, w.look)
	if w.seen != nil && reason.IsOfContext(ctx, err) {
		err = &RaisedError{Op: "wait", Path: b.path, Raised: *w.seen, Err: err}
	}
	return b.waited("wait", begun, err)
}

// waiting is a Wait that is under way.
type waiting struct {
	*call
	synced *framework.Session // the session whose server has caught up, and does not fall behind that
	seen   *Raised            // the barrier as it was last seen, or nil
}

// look waits for a change of the barrier, unless it is down.
func (w *waiting) look(ctx context.Context, s *framework.Session) error {
	if w.synced != s {
		if err := w.client.Sync(ctx, w.path); err != nil {
			return err
		}
		w.synced = s
	}
	data, stat, watch, err := w.client.GetW(ctx, w.path)
	if reason.Is(err, zk.ErrNoNode) {
		return follow.ErrDone
	}
	if err != nil {
		return err
	}
	defer watch.Stop()
	up := describe(data, stat, s)
	w.seen = &up
	w.Recovered()
	_, err = watch.Wait(ctx)
	return err
}
