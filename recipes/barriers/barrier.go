package barriers

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
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
	b := &Barrier{place: newPlace(c, path)}
	if path == "/" { // nobody could lower it
		b.fault = fmt.Errorf("%w: the root is always there", zk.ErrInvalidPath)
	}
	return b
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
	// nil: check it before use. It is nil after a successful Raise WithSession,
	// too, if somebody had raised the barrier without a session. The session's
	// context ends before the barrier falls.
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
	if err := cmp.Or(b.unusable(), apply(&cfg, opts)); err != nil {
		return Raised{}, b.errorOf("raise", err)
	}
	up, err := b.raise(ctx, cfg.mode)
	return up, b.errorOf("raise", err)
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
	err = b.ask(ctx, "raised", b.inStep(func(ctx context.Context, s *framework.Session) (err error) {
		raised, _, err = b.look(ctx, s)
		up = err == nil
		return ignore(err, zk.ErrNoNode)
	}))
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
// barrier. If Wait has not seen the barrier by then, for want of a connection,
// the error just matches ctx.Err().
func (b *Barrier) Wait(ctx context.Context) error {
	if err := b.unusable(); err != nil {
		return b.errorOf("wait", err)
	}
	begun, w := time.Now(), &waiting{Barrier: b}
	err := w.run(ctx, b.client, w.look)
	if w.seen != nil && reason.IsOfContext(ctx, err) {
		err = &RaisedError{Op: "wait", Path: b.path, Raised: *w.seen, Err: err}
	}
	return b.waited("wait", begun, err)
}

// waiting is a Wait that is under way.
type waiting struct {
	call
	*Barrier
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
