package queue

import (
	"container/list"
	"context"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// winLocally first waits in the process, until this goroutine may queue at the
// server, or another one hands the lock over. Thousands may wait there, and a
// goroutine's stack has room for what its callers need: so this is a function of its
// own, which needs little.
func (q *Queue) winLocally(ctx context.Context, a Attempt) (*claim.Claim, error) {
	as := q.arrival(a)
	c, local, w, err := q.comeFor(ctx, a, &as)
	if err != nil {
		return nil, err
	}
	if c != nil {
		a.Trace.HandedOver()
		return c, nil
	}
	return q.winInPlace(ctx, a.Remembering(), local, w, local.isAwaited(as))
}

// winInPlace queues at the server for a goroutine that has a place. It has waited for
// that as w, or has not waited. Others may wait for what becomes of its node.
func (q *Queue) winInPlace(
	ctx context.Context, a Attempt, local *localQueue, w *localWaiter, isAwaited bool,
) (c *claim.Claim, err error) {
	shared := q.isShared()
	e := &entrant{of: q, queue: local, ctx: ctx, attempt: a, isAwaited: isAwaited}
	defer func() {
		e.enter()
		e.settle(c)
		if c == nil { // refused, or the user's code has panicked, such as an ACL provider
			local.leave(shared, nil)
		}
	}()
	at := e.inLoop()
	if w != nil {
		at.Trouble = w.trouble
	}
	c, refusal := q.winAtServer(ctx, a, at)
	if refusal != nil {
		local.complete(refusal, e.isQueued, shared)
		a.Recall(refusal)
		return nil, q.Refuse(ctx, refusal)
	}
	h := holdingOf(c) // the turn may outlive this claim, and must not keep it
	t := &turn{queue: local, of: q.ofTurn(), claim: c, node: h.seen.Holder, since: time.Now(), n: 1, contended: e.wasBehind}
	var before *holding
	if shared {
		t.shared = local.noteShared(h)
	} else {
		before = local.noteAlone(h)
	}
	t.holdAtLeast()
	c.Occupy(t)
	local.endGone(h, before, shared)
	if shared && local.key.joins() {
		c = local.first(t)
	}
	return c, nil
}

// comeFor leads to a claim, if the lock comes from another goroutine of ours, or to
// a place in the queue. It also returns the waiter that the place was for, unless
// there was no need to wait.
func (q *Queue) comeFor(ctx context.Context, a Attempt, as *arrival) (*claim.Claim, *localQueue, *localWaiter, error) {
	for {
		c, local, w, ahead := q.come(ctx, as)
		if w == nil {
			return c, local, nil, nil
		}
		c, err := q.waitLocally(ctx, a, local, w, ahead)
		if err != nil || c != nil || !w.hasToComeAgain() {
			return c, local, w, err
		}
		if w.join != nil {
			if c := q.join(ctx, w, as); c != nil {
				return c, local, nil, nil
			}
		}
	}
}

// entrant is a goroutine that has a place at the server, until it has the lock.
type entrant struct {
	of      *Queue
	queue   *localQueue
	ctx     context.Context // the acquire's
	attempt Attempt

	isAwaited  bool // others of ours may wait for what becomes of its node
	hasEntered bool // those behind it have been told that they may enter
	isQueued   bool // it has had a node at the server
	wasBehind  bool // its node was behind a node of another
	fellBehind bool // the queue knows that it waits for others
}

// inLoop returns the attempt for the lock loop, which tells the queue of it.
func (e *entrant) inLoop() lockloop.Attempt {
	at := e.of.inLoop(e.attempt)
	if e.of.isShared() {
		at.Crowd = e.queue.sharing()
	}
	at.OnQueued, at.OnBlocked, at.OnTrouble = e.queued, e.blocked, e.troubled
	return at
}

func (e *entrant) queued(framework.Created) {
	e.isQueued = true
	e.enter()
}

// enter lets those behind enter, once.
func (e *entrant) enter() {
	if !e.hasEntered {
		e.hasEntered = true
		e.queue.entered(e.of.isShared())
	}
}

// settle notes that it is known what becomes of its node. There is no claim if it
// has failed. If it has not just run out of time, others are likely to fail, too.
func (e *entrant) settle(c *claim.Claim) {
	switch {
	case !e.isAwaited:
	case e.fellBehind:
		e.queue.caughtUp()
	case c == nil && e.ctx.Err() == nil:
		e.queue.settledInVain()
	default:
		e.queue.settled()
	}
}

func (e *entrant) blocked(r lockloop.NotAdmitted) {
	e.attempt.note(r)
	isNews := e.queue.note(r, e.of.isShared() || !e.of.isReader(r.Holder))
	e.wasBehind = e.wasBehind || isNews
	if e.isAwaited && !e.fellBehind {
		e.fellBehind = true
		e.queue.fellBehind()
	}
}

func (e *entrant) troubled(err error) { e.queue.noteTrouble(e.ctx, err) }

// ours describes a node of ours as the holder.
func ours(node framework.Created, data []byte) lockloop.NotAdmitted {
	return lockloop.NotAdmitted{
		Holder: path.Base(node.Path), HolderData: data, HolderSession: node.Session.ID(),
	}
}

// waitLocally waits for a place at the server. If the lock came with the place,
// it returns that.
func (q *Queue) waitLocally(ctx context.Context, a Attempt, local *localQueue, w *localWaiter, ahead int) (*claim.Claim, error) {
	limit := q.cfg.QueueLimit
	if full := limit > 0 && ahead >= limit; !a.Wait || full {
		local.abandon(ctx, w)
		return nil, q.refuseLocally(ctx, local, ahead, full)
	}
	waited := false
	defer func() {
		if !waited { // the user's tracer has panicked, or a context of the user's own
			local.abandon(claim.Ended, w)
		}
	}()
	a.Trace.QueuedLocally(ahead, func() flight.Standing { return local.standingOf(w) })
	over := ctx.Done()
	waited = true
	select {
	case <-w.turn:
		if w.got == nil {
			return nil, nil
		}
		w.got.of = q // from now on, the options of its object count
		return w.got.claim, nil
	case <-over:
		return nil, q.refuseGone(ctx, local, w)
	}
}

// refuseGone returns the error of an acquire whose context has ended while it waited
// in the process.
func (q *Queue) refuseGone(ctx context.Context, local *localQueue, w *localWaiter) error {
	var r lockloop.NotAdmitted
	if ahead := local.abandon(ctx, w); ahead > 0 {
		r = local.standing()
		r.Ahead = max(r.Ahead, ahead)
	}
	r.Err = lockloop.ErrorOf(ctx, reason.OfContext(ctx), w.trouble)
	q.noteOutage(ctx, &r) // also if nobody is ahead: the one whose node it waits for may not have noticed
	return q.Refuse(ctx, &r)
}

// refuseLocally returns the error of an acquire that does not wait. It looks at
// the server's queue for that, as long as ctx lasts.
func (q *Queue) refuseLocally(ctx context.Context, local *localQueue, ahead int, full bool) error {
	r, err := q.loop.Peek(ctx)
	switch {
	case err != nil && ctx.Err() == nil && full: // it is full, whatever the server says
	case err != nil && ctx.Err() == nil:
		return q.OpError(err)
	case err != nil:
		r.Err = lockloop.ErrorOf(ctx, err, nil)
		local.complete(&r, true, false)
	case !r.Seen.IsZero():
		local.complete(&r, true, false)
	}
	r.Ahead, r.Full = max(r.Ahead, ahead), full
	return q.Refuse(ctx, &r)
}

// turn is the place of a node that has the lock, among the goroutines of its
// client. It implements claim.Place. The goroutines that have the lock by this node
// have the turn one after the other. Nobody may have it: then the turn is idle.
type turn struct {
	queue  *localQueue
	of     *Queue        // the one that acquired the lock; see ofTurn
	claim  *claim.Claim  // the claim that has this place, or that is about to
	node   string        // the name of the node
	since  time.Time     // the time at which a goroutine of ours got the lock at the server
	n      int           // turns since then, including this one
	shared *list.Element // the element of queue.shared, if the lock is shared
	left   sync.Once
	unkeep func() // for a minimum hold: the end of the client need not spare the node any more; may be nil

	// These are for a lock that is cached.
	contended bool                            // the node was behind a node of another, and nobody has released it yet
	others    atomic.Pointer[otherContenders] // nil if no watch was set
	amongIdle atomic.Pointer[idleSet]         // the client's; nil if there is no watch
	freed     bool                            // Free was called; protected by queue.mu
	ending    bool                            // it is idle, and is being given up; protected by queue.mu
	retired   sync.Once                       // gives the claim of an idle turn up
	asIdle    *idleTurn                       // nil before the turn is idle for the first time; protected by queue.mu
	timer     *time.Timer                     // gives up what is idle for too long; protected by queue.mu; nil before that
}

// plain is the queue of turns whose options ask for nothing.
var plain Queue

// ofTurn returns the queue whose options say what becomes of the lock when it is
// released. Most have none of those. A lock may be held for days, and then its turn
// does not keep the object in memory on which the lock was acquired.
func (q *Queue) ofTurn() *Queue {
	if q.cfg.HandOvers == 0 && q.cfg.CachedUses == 0 && !q.HasMinimumHold() {
		return &plain
	}
	return q
}

// Free frees the place at the server.
func (t *turn) Free() {
	if t.queue.disown(t) { // nobody works with the lock, and nobody else gives it up
		t.retire()
	}
	t.left.Do(func() {
		if others := t.others.Load(); others != nil {
			others.ignore()
		}
		t.queue.forget(t.node, t.shared, t.nodeStays())
		t.queue.leave(t.shared != nil, t)
	})
	t.waive()
}

// nodeStays reports whether the lock was lost, and is not given up: the servers
// may have the node for a while, and with it all others wait.
func (t *turn) nodeStays() bool {
	return t.claim.State() == claim.Lost && !reason.Is(t.claim.Loss(), claim.ErrNodeDeleted)
}

// PassOn keeps the lock for the rest of its minimum hold. Otherwise, it hands the
// lock to the first goroutine that waits here, or keeps it for one that comes
// later.
func (t *turn) PassOn(ctx context.Context, from *claim.Claim) bool {
	if t.mustStay() {
		return t.stay(ctx, from)
	}
	if t.shared != nil && t.queue.key.joins() {
		t.queue.parts(t)
		defer t.queue.settled()
	}
	if t.mayHandOver() && t.queue.isWaitedFor() && t.handOver(from) {
		return true
	}
	return t.mayKeep(ctx, from) && t.keep(from)
}

func (t *turn) mayHandOver() bool {
	return t.n <= t.of.cfg.HandOvers && time.Since(t.since) < t.of.cfg.HandOver
}

// handOver gives the lock to the first goroutine that waits. That one stays in the
// line until there is a claim for it. The user's suspend clock is asked before, and
// may be slow, or end this goroutine. If nobody waits any more then, or the lock is
// lost, the release goes on, and tells its caller what becomes of the node.
func (t *turn) handOver(from *claim.Claim) bool {
	next := from.Successor()
	if next == nil {
		return false // the place that gets free is the waiter's
	}
	w := t.queue.takeFirstFor(next)
	if w == nil {
		next.Drop()
		return false
	}
	t.n++
	t.goesTo(next)
	w.get(t)
	return true
}

// goesTo gives the turn to the next claim to its node.
func (t *turn) goesTo(next *claim.Claim) {
	t.claim, t.contended = next, false
	next.Occupy(t)
}

// get gives a lock to a waiter that was taken off the queue.
func (w *localWaiter) get(t *turn) {
	t.queue.noteNext(t)
	w.got = t
	close(w.turn)
}
