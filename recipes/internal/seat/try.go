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

// A try creates a node even if the lock is held, only to delete it again. So if the last
// try was refused, the next one first reads the queue, because the lock is probably still
// held. The read creates no node and never grants: it refuses the try, or lets it queue.
//
// The server catches up with its leader before the read. So the refusal is as true as the
// refusal of a try that queues: other contenders were ahead after the call began, even if
// another program has said that the lock is free.

// refusalLasts is for how long reads may refuse tries, after a try that has queued.
const refusalLasts = time.Second

// refusal is what a refused try has seen, or a read after it. It is immutable.
type refusal struct {
	at   time.Time // the end of the attempt
	seen NotAdmitted
}

// judge reads the listing of a lock's path. It returns errHeld if other contenders are
// ahead.
type judge func(ctx context.Context, c *contender, names []string, parent *zk.Stat) error

// readFirst reads the queue before a try. It returns nil if no contender is ahead, or if
// no queued try was refused within refusalLasts.
func (l *Lock) readFirst(ctx context.Context, a Attempt, j judge) *NotAdmitted {
	last := l.refused.Load()
	if last == nil || time.Since(last.at) >= refusalLasts {
		return nil
	}
	c := newContender(l, a)
	ctx = framework.Extend(l.cfg.Client).OnError(ctx, c.recovery.Note)
	names, parent, err := insider.Of(l.cfg.Client).CurrentSiblings(ctx, l.cfg.Path)
	switch {
	case err == nil:
		l.warnOfOthers(names)
		if err = j(ctx, c, names, parent); reason.Is(err, errHeld) { // the next read can reuse the holder's data
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

// judgeQueue returns errHeld if a new node would have to wait.
func (l *Lock) judgeQueue(ctx context.Context, c *contender, names []string, parent *zk.Stat) error {
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

// RefuseTry refuses a try if the last one was refused within refusalLasts and the wanted
// places are still not free. It returns nil if the try should take its turn.
func (l *Lock) RefuseTry(ctx context.Context, want Wanted, a Attempt) *NotAdmitted {
	return l.readFirst(ctx, a, func(ctx context.Context, c *contender, names []string, _ *zk.Stat) error {
		limit, _, err := want.Limit(ctx, false)
		if err != nil || want.N <= limit-len(names) {
			return err
		}
		c.noteQueue(firstOf(names, l.cfg.Kinds), len(names))
		return errHeld
	})
}

// Refuse returns the error of an acquire that was not admitted. If contenders ahead are
// the reason, the error names them. They are not the reason if the server has refused the
// request or could not be reached. There may be no contenders ahead, because a
// semaphore's limit can be zero.
func (l *Lock) Refuse(ctx context.Context, r *NotAdmitted) error {
	if r.Err == nil || r.Ahead > 0 && ctx.Err() != nil {
		l.noteOutage(ctx, r)
		return l.cfg.NotAcquired(l.notAcquired(r))
	}
	return l.OpError(r.Err)
}

// RefuseLimit is Refuse for an acquire of n leases that exceed the semaphore's limit.
func (l *Lock) RefuseLimit(r *NotAdmitted, n, limit int) error {
	e := l.notAcquired(r)
	e.Leases, e.Limit = n, limit
	return l.cfg.NotAcquired(e)
}

// noteOutage records that there is no connection at the end of a wait: the outage may be
// the reason, not the contenders ahead.
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
