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

// Barrier is a gate: while it is raised, Wait blocks. It is Curator's DistributedBarrier:
// the barrier is up while the node at its path exists.
//
// A Barrier has no goroutine and need not be closed. It is safe for concurrent use.
type Barrier struct {
	place
	sessions identity.Sessions // the sessions in which this Barrier was raised
}

// NewBarrier returns a barrier, without contacting the server. If the client is nil or
// the path is invalid, every call returns an error.
func NewBarrier(c *framework.Client, path string) *Barrier {
	return &Barrier{place: newPlace(c, path)}
}

// Raised describes a barrier that is up.
type Raised struct {
	By    locks.Identity // read from the node's data, which any client may have written
	Since time.Time      // when the barrier was raised, by the server's clock
	Czxid int64          // the id of the transaction that raised it

	// Owner is the id of the session to which the barrier is bound. It is 0 for a barrier
	// that stays up until a client lowers it.
	Owner int64

	// Session is the owning session if it is this client's current session; otherwise it
	// is nil, so check it before use. It is also nil after a successful Raise WithSession
	// if the barrier was already up without a session. The session's context ends before
	// the barrier falls.
	Session *framework.Session
}

// by returns the name of the process that raised the barrier.
func (r Raised) by() string {
	if r.By.Foreign != "" {
		return fmt.Sprintf("%q", r.By.Foreign)
	}
	return r.By.String()
}

// RaiseOption configures a Raise.
type RaiseOption func(*raiseConfig)

type raiseConfig struct{ mode framework.Mode }

// WithSession binds the barrier to the client's session: the barrier falls when the
// session ends, so a process that crashes does not leave it up. Waiters, including
// waiters in Java Curator, need not know of the option.
//
// The barrier is not raised again when the session is lost. Raised.Session reports the
// loss. For a barrier that is raised again, keep a nodes.PersistentNode at its path
// instead.
func WithSession() RaiseOption { return func(c *raiseConfig) { c.mode = framework.Ephemeral } }

// Raise raises the barrier and returns a description of it. After a successful Raise, the
// barrier stays up until a client lowers it, or until the end of the session to which it
// is bound. Missing parents are created.
//
// If the barrier is already up, the outcome depends on its session:
//
//   - If the barrier has no session, it stays as it is. Raise succeeds, and the
//     description says who raised the barrier.
//   - If the barrier is bound to a session and the call has no WithSession, Raise makes it
//     a barrier without a session. The barrier is up all the time.
//   - If the barrier is bound to this client's current session, Raise succeeds.
//   - If this Barrier was raised in a session that is now lost, the barrier is about to
//     fall. Raise waits for that, and raises the barrier again in the current session. In
//     between, the barrier is down.
//   - If the barrier is bound to any other session and the call has WithSession, Raise
//     returns a *RaisedError: the barrier would fall with another client's session.
//
// If a reply is lost, Raise repeats the request. If another client lowers the barrier in
// the meantime, this may raise it again. If Raise fails after it has raised the barrier,
// or may have raised it, the error matches framework.ErrOutcomeUnknown.
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

// raise is the state of one Raise.
type raise struct {
	*call
	barrier  *Barrier
	mode     framework.Mode
	data     []byte
	vanished pauses.Growing
	up       Raised // the result
}

// attempt raises the barrier, or handles a barrier that is already up. After a lost
// reply, the next attempt finds the barrier up.
func (r *raise) attempt(ctx context.Context, s *framework.Session) error {
	if err := r.create(ctx, s); err != nil {
		return err
	}
	up, version, err := r.barrier.look(ctx, s)
	switch {
	case err != nil: // without a node, the barrier was lowered, or its session has ended
	case up.Owner == 0, r.mode == framework.Ephemeral && up.Session != nil:
		r.up = up
		return follow.ErrDone
	case r.mode == framework.Persistent:
		err = r.replace(ctx, s, version)
	case r.barrier.sessions.Has(up.Owner):
		// The barrier falls with a lost session of this client. It must not be deleted
		// here: another client may have raised it again, and no request can tell the two
		// nodes apart.
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

// replace replaces the node of a session by a persistent node in one transaction, so that
// the barrier is up all the time. If the node has changed since the read, the next
// attempt reads the node again. A new node has the same version as its predecessor, so
// the transaction may replace a newer node. That is harmless: the barrier is up, as the
// caller wants.
func (r *raise) replace(ctx context.Context, s *framework.Session, version int32) error {
	_, err := r.client.Transaction(ctx,
		framework.DeleteOp(r.path, version), framework.CreateOp(r.path, r.data, framework.WithMode(r.mode)))
	return ignore(r.raised(s, err), zk.ErrNoNode, zk.ErrBadVersion)
}

// raised records and logs a request that raised the barrier, and returns the error of a
// failed one. If the barrier was already up, the error is nil.
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

// describe describes the barrier from its node. The node was read in session s.
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

// Lower lowers the barrier, no matter which client raised it. If the barrier is not up,
// Lower succeeds. If a reply is lost, Lower repeats the request, which may delete a
// barrier that was raised in the meantime. If ctx ends before the reply, the error
// matches framework.ErrOutcomeUnknown, and nothing continues in the background. If no
// request was sent, the error does not match ErrOutcomeUnknown.
func (b *Barrier) Lower(ctx context.Context) error {
	err := b.ask(ctx, "lower", func(ctx context.Context, _ *framework.Session) error {
		return b.client.Delete(ctx, b.path, framework.AnyVersion, framework.WithMissingOK())
	})
	if err == nil {
		b.events.Emit(eventLowered, nil)
	}
	return err
}

// Raised reports whether the barrier is up, and describes it. The result reflects every
// Raise and Lower that was complete before the call, with the exceptions that Wait has.
// Raised retries through outages until ctx ends.
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

// Wait waits until the barrier is down. If the barrier is already down, Wait returns nil
// at once. Wait survives outages and lost sessions: it re-reads the barrier when there is
// a connection. A waiting call has one watch on the server, and removes the watch before
// it returns.
//
// Wait sees every Raise that was complete before the call, because the server catches up
// before the first read of each session, as by [framework.Client.Sync]. A client that is
// connected to the ensemble's leader may miss a Raise, because the leader answers from the
// state that it has applied. The leader may be some milliseconds behind its followers. A
// leader that is partitioned from its followers takes some seconds to notice, and until
// then its clients see the state before the partition. If a Wait must never pass a barrier
// that was raised meanwhile, let the worker's writes depend on a version or on a lock.
// Wait may also miss a barrier that is lowered and raised again at once.
//
// If ctx ends first, the error is a *RaisedError, which says who raised the barrier. If
// Wait has not read the barrier's node by then, for lack of a connection, the error
// matches only ctx.Err().
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

// waiting is the state of one Wait.
type waiting struct {
	*call
	synced *framework.Session // the session whose server has caught up; the server never falls back behind that
	seen   *Raised            // the barrier at the last read, or nil
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
