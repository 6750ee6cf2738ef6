package barriers

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	client *framework.Client
	path   string

	mu       sync.Mutex        // protects the following field
	sessions identity.Sessions // they raised this Barrier
}

// NewBarrier returns a barrier, without contacting the server. A client or a
// path that cannot be used is an error of every call.
func NewBarrier(c *framework.Client, path string) *Barrier {
	return &Barrier{client: c, path: path}
}

// Raised describes a barrier that is up.
type Raised struct {
	By    locks.Identity // who raised it, as the node says; anybody may have written it
	Since time.Time      // by the server's clock
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
// need not know: those of Java Curator understand it, too.
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
	if err := errors.Join(b.usable(), apply(&cfg, opts)); err != nil {
		return Raised{}, errorOf("raise", b.path, err)
	}
	return b.raise(ctx, cfg.mode)
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
// framework.ErrOutcomeUnknown, and nothing goes on in the background.
func (b *Barrier) Lower(ctx context.Context) error {
	err := b.usable()
	if err == nil {
		err = b.client.Delete(ctx, b.path, framework.AnyVersion, framework.WithMissingOK())
	}
	if err != nil {
		return errorOf("lower", b.path, err)
	}
	framework.Extend(b.client).Logger().Info("barrier lowered", logPath(b.client, b.path))
	return nil
}

// Raised reports whether the barrier is up, and describes it. It has seen every
// Raise and Lower that was complete before the call, as Wait has.
func (b *Barrier) Raised(ctx context.Context) (Raised, bool, error) {
	if err := b.usable(); err != nil {
		return Raised{}, false, errorOf("look at", b.path, err)
	}
	var up Raised
	err := inStep(ctx, b.client, b.path, func(ctx context.Context) error {
		s, err := b.client.Session(ctx)
		if err == nil {
			up, _, err = b.look(ctx, s)
		}
		return err
	})
	if reason.Is(err, zk.ErrNoNode) {
		return Raised{}, false, nil
	}
	return up, err == nil, errorOf("look at", b.path, err)
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
	if err := b.usable(); err != nil {
		return errorOf("wait", b.path, err)
	}
	begun := time.Now()
	err := b.wait(ctx)
	traceWait(b.client, "wait", b.path, begun, err)
	return err
}

// waiting is a Wait that is under way.
type waiting struct {
	follow.Loop
	barrier *Barrier
	synced  *framework.Session // in which the server has caught up; no server falls behind that in the same session
	seen    *Raised            // the barrier as it was last seen, or nil
}

func (b *Barrier) wait(ctx context.Context) error {
	w := &waiting{barrier: b}
	w.Client, w.Ends, w.Look = b.client, endsCall, w.look
	err := w.Run(ctx)
	gaveUp := reason.IsOfContext(ctx, err)
	if gaveUp {
		err = w.GaveUp(ctx)
	}
	if gaveUp && w.seen != nil {
		return &RaisedError{Op: "wait", Path: b.path, Raised: *w.seen, Err: err}
	}
	return errorOf("wait", b.path, err)
}

// look waits for a change of the barrier, unless it is down.
func (w *waiting) look(ctx context.Context, s *framework.Session) error {
	b := w.barrier
	if w.synced != s {
		if err := b.client.Sync(ctx, b.path); err != nil {
			return err
		}
		w.synced = s
	}
	data, stat, watch, err := b.client.GetW(ctx, b.path)
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

// inStep calls f with a context for requests of one session, whose server has
// caught up with all that was complete before. If the session is lost, it begins
// anew in the next one.
func inStep(ctx context.Context, c *framework.Client, path string, f func(context.Context) error) error {
	for {
		err := c.InSession(ctx, func(ctx context.Context) error {
			if err := c.Sync(ctx, path); err != nil {
				return err
			}
			return f(ctx)
		})
		if ctx.Err() != nil || follow.Judge(err) != follow.NextSession {
			return err
		}
	}
}

func (b *Barrier) usable() error {
	if b.client == nil {
		return isNil("client")
	}
	if b.path == "/" { // nobody could lower it
		return fmt.Errorf("%w: the root is always there", zk.ErrInvalidPath)
	}
	return framework.ValidatePath(b.path)
}
