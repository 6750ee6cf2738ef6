package lockloop

import (
	"context"
	"math"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
)

// An attempt that does not wait would make a node on a lock that others have,
// only to delete it. So it looks first, if the last attempt saw that others are
// ahead: they probably still are. A look makes no node. It never grants: it
// refuses, or lets the attempt queue.
//
// The server catches up with its leader before the look. So a refusal is true
// as the one of an attempt that queues is: others are ahead after the call has
// begun, also if somebody has told the caller that the lock is free.

// looksLast is for how long looks refuse, after an attempt that has queued.
const looksLast = time.Second

// refusal is what an attempt that was refused, or a look after it, has seen. It does
// not change.
type refusal struct {
	at   time.Time // the end of the attempt
	seen NotAdmitted
}

// refusalOf returns a refusal without its error. That may have a cause of the
// caller's, who decides how long it is in memory.
func refusalOf(at time.Time, seen NotAdmitted) *refusal {
	seen.Err = nil
	return &refusal{at, seen}
}

// noteRefusal notes that an attempt has ended without a grant. It may not have
// seen the queue.
func (l *Loop) noteRefusal(seen NotAdmitted) {
	if !seen.Seen.IsZero() {
		l.refused.Store(refusalOf(time.Now(), seen))
	}
}

// LookFirst refuses an attempt that does not wait, if the last one that has queued
// was refused less than looksLast ago and a look finds others ahead. It returns nil
// if the attempt has to queue.
func (l *Loop) LookFirst(ctx context.Context) *NotAdmitted {
	return l.lookFirst(ctx, Attempt{}, l.order.look)
}

// LookFirst is Loop.LookFirst for places.
func (p *Places) LookFirst(ctx context.Context, want Wanted, a Attempt) *NotAdmitted {
	return p.loop.lookFirst(ctx, a, func(ctx context.Context, c *contender) error {
		return p.lookFor(ctx, c, want)
	})
}

// lookFirst makes the look. It returns nil if others are not ahead.
func (l *Loop) lookFirst(ctx context.Context, a Attempt, look func(context.Context, *contender) error) *NotAdmitted {
	last := l.refused.Load()
	if last == nil || time.Since(last.at) >= looksLast {
		l.refused.CompareAndSwap(last, nil)
		return nil
	}
	c := newContender(l, a)
	c.refused = last
	ctx = framework.Extend(l.nodes.Client).OnTrouble(ctx, c.recovery.Note)
	err := look(ctx, c)
	if err == nil {
		l.refused.Store(nil)
		return nil
	}
	if reason.Is(err, errHeld) { // the next look need not read the same holder
		l.refused.CompareAndSwap(last, refusalOf(last.at, c.seen))
	}
	c.seen.Err = ErrorOf(ctx, err, c.recovery.Trouble())
	return &c.seen
}

// look returns errHeld if a node that we would make now would have to wait.
func (o Order) look(ctx context.Context, c *contender) error {
	of := c.loop.nodes
	names, stat, err := insider.Of(of.Client).CurrentSiblings(ctx, of.Path)
	if reason.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	c.warnOfOthers(names)
	ours := newcomer(of.Kind, stat)
	queue, err := c.resolve(ctx, ours, names)
	if err != nil {
		return err
	}
	now := StandingOf(ours, queue, o.Blocks)
	if now.Blocker == "" {
		return nil
	}
	o.note(c, now, time.Now())
	c.recallHolder(ctx)
	return errHeld
}

// recallHolder reads the holder, unless the last look or attempt has read it.
func (c *contender) recallHolder(ctx context.Context) {
	c.seen.RecallHolder(c.refused.seen)
	c.readNewHolder(ctx)
}

// newcomer returns the entry of a node that is made next. It has the number of
// all nodes that were ever made below the parent. Cversion is twice that, less
// those that are left (DataNode.copyStat).
//
// Whoever has the number of a newcomer or a larger one is not ahead: somebody
// has made that name up.
func newcomer(kind string, parent *zk.Stat) Entry {
	made := uint32(parent.Cversion+parent.NumChildren) / 2
	return Entry{Kind: kind, Seq: int32(made), Czxid: math.MaxInt64}
}

// lookFor returns errHeld if the places that are wanted do not fit now.
func (p *Places) lookFor(ctx context.Context, c *contender, want Wanted) error {
	of := p.loop.nodes
	names, _, err := insider.Of(of.Client).CurrentSiblings(ctx, of.Path)
	if reason.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	c.warnOfOthers(names)
	limit, _, err := p.readLimit(ctx, want, false)
	if err != nil {
		return err
	}
	if want.N <= limit-len(names) {
		return nil
	}
	c.noteTaken(names)
	c.recallHolder(ctx)
	return errHeld
}
