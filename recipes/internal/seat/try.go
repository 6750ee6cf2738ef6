package seat

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/identity"
	"github.com/gocurator/curator/recipes/internal/order"
)

// An attempt that does not wait would make a node on a lock that others have,
// only to delete it. So it looks first, if the last attempt saw that others are
// ahead: they probably still are. A look makes no node. It never grants: it
// refuses, or lets the attempt queue.
//
// The server catches up with its leader before the look. So a refusal is true
// as the one of an attempt that queues is: others are ahead after the call has
// begun, even if another program has said that the lock is free.

// looksLast is for how long looks refuse, after an attempt that has queued.
const looksLast = time.Second

// refusal is what an attempt that was refused, or a look after it, has seen. It does
// not change.
type refusal struct {
	at   time.Time // the end of the attempt
	seen NotAdmitted
}

// lookAt judges a listing of a lock's path. It returns errHeld if others are ahead.
type lookAt func(ctx context.Context, c *contender, names []string, parent *zk.Stat) error

// lookFirst makes a look. It returns nil if nobody is ahead, or if no attempt that has
// queued was refused less than looksLast ago.
func (l *Lock) lookFirst(ctx context.Context, a Attempt, look lookAt) *NotAdmitted {
	last := l.refused.Load()
	if last == nil || time.Since(last.at) >= looksLast {
		return nil
	}
	c := newContender(l, a)
	ctx = framework.Extend(l.cfg.Client).OnError(ctx, c.recovery.Note)
	names, parent, err := insider.Of(l.cfg.Client).CurrentSiblings(ctx, l.cfg.Path)
	switch {
	case err == nil:
		l.warnOfOthers(names)
		if err = look(ctx, c, names, parent); reason.Is(err, errHeld) { // the next look need not read the same holder
			c.seen.recallHolder(last.seen)
			c.readHolder(ctx)
			l.refused.CompareAndSwap(last, &refusal{last.at, c.seen})
		}
	case reason.Is(err, zk.ErrNoNode):
		err = nil
	}
	if err == nil {
		l.refused.Store(nil)
		return nil
	}
	c.seen.Err = ErrorOf(ctx, err, c.recovery.LastError())
	return &c.seen
}

// lookForTurn returns errHeld if a node that we would make now would have to wait.
func (l *Lock) lookForTurn(ctx context.Context, c *contender, names []string, parent *zk.Stat) error {
	ours := order.Newcomer(l.cfg.Kind, parent)
	queue, err := l.resolve(ctx, ours, names)
	if err != nil {
		return err
	}
	now := order.StandingOf(ours, queue, l.cfg.Blocks)
	if now.Blocker == "" {
		return nil
	}
	c.noteQueue(now.First, now.Ahead)
	return errHeld
}

// LookFirst refuses an attempt that does not wait, if the last one was refused less
// than looksLast ago and the places that are wanted do not fit now. It returns nil if
// the attempt has to take its turn.
func (l *Lock) LookFirst(ctx context.Context, want Wanted, a Attempt) *NotAdmitted {
	return l.lookFirst(ctx, a, func(ctx context.Context, c *contender, names []string, _ *zk.Stat) error {
		limit, _, err := want.Limit(ctx, false)
		if err != nil || want.N <= limit-len(names) {
			return err
		}
		c.noteQueue(firstOf(names, l.cfg.Kinds), len(names))
		return errHeld
	})
}

// Refuse returns the error of an acquire that was not admitted. It names those
// ahead if they are the reason. They are not if the server has refused us, or
// could not be asked. There may be none ahead: a semaphore's limit can be zero.
func (l *Lock) Refuse(ctx context.Context, r *NotAdmitted) error {
	if r.Err == nil || r.Ahead > 0 && ctx.Err() != nil {
		l.noteOutage(ctx, r)
		return l.cfg.NotAcquired(l.notAcquired(r))
	}
	return l.OpError(r.Err)
}

// RefuseLimit is Refuse for an acquire of n leases, where the semaphore's limit
// is lower.
func (l *Lock) RefuseLimit(r *NotAdmitted, n, limit int) error {
	e := l.notAcquired(r)
	e.Leases, e.Limit = n, limit
	return l.cfg.NotAcquired(e)
}

// noteOutage records that there is no connection at the end of a wait: those
// ahead may not be to blame.
func (l *Lock) noteOutage(ctx context.Context, r *NotAdmitted) {
	if !reason.IsOfContext(ctx, r.Err) || framework.IsConnectionError(r.Err) {
		return
	}
	if why := framework.Extend(l.cfg.Client).NotConnected(); why != nil {
		r.Err = fmt.Errorf("%w (last error: %w)", reason.OfContext(ctx), why)
	}
}

func (l *Lock) notAcquired(r *NotAdmitted) NotAcquired {
	e := NotAcquired{
		Op: l.cfg.Op, Path: l.cfg.Name, Ahead: r.Ahead, Holder: r.Holder, HolderData: bytes.Clone(r.HolderData), Err: r.Err,
		Own:       r.HolderSession != 0 && r.HolderSession == l.cfg.Client.SessionID(),
		Reentrant: l.cfg.Reenters != nil && l.cfg.Reenters(r.Holder) && identity.Read(r.HolderData).KeptUntil.IsZero(),
		Seen:      r.Seen,
	}
	if r.hasRead() && r.HolderSession == 0 {
		e.Unowned = r.Holder
	}
	if !r.Seen.IsZero() {
		e.Age = time.Since(r.Seen)
	}
	return e
}
